// Which sources have proven that they receive what is sent to them: the allow-list of one worker, of fixed size. A
// source is an IPv4 address, or the upper 64 bits of an IPv6 address. Buckets of four entries, one cache line each, two
// buckets a source.
//
// When both buckets of a new source are full, an entry whose time is over makes room, then one that has room in its
// other bucket, then the oldest that a cookie proved. A source that a server has vouched for is never given up before
// its time.
//
// Memory: 16 octets an entry. The first source is refused at a load above 0.85, so a million sources take 20 MB.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "base/counter.h"
#include "guard/cookie/four_tuple.h"
#include "guard/state/age.h"
#include "guard/state/keyed_hash.h"
#include "guard/state/prefetch.h"

namespace splitplane::guard {

enum class Proof : std::uint8_t {
  kNone,
  kCookie,   // it returned a cookie
  kVouched,  // a server sent it a segment of an established connection
};

// Four sources. A key of 0 is a free entry.
struct alignas(64) SourceBucket {
  static constexpr unsigned kEntries = 4;
  std::array<std::uint64_t, kEntries> key;
  // Second of the last proof in the lower 24 bits, 194 days. The upper 8: the second in which `syns` counts, modulo
  // 256.
  std::array<std::uint32_t, kEntries> seen;
  std::array<std::uint16_t, kEntries> syns;  // kVouched, and SYNs that passed in that second
  std::array<std::uint16_t, kEntries> flows;

  static constexpr std::uint32_t kSeenMask = 0xffffff;
  static constexpr std::uint16_t kVouchedBit = 0x8000;

  // A bit for each entry of this key (at most one).
  [[nodiscard]] unsigned match(std::uint64_t wanted) const {
#if defined(__AVX2__)
    const __m256i keys = _mm256_load_si256(reinterpret_cast<const __m256i*>(this));
    const __m256i equal = _mm256_cmpeq_epi64(keys, _mm256_set1_epi64x(static_cast<long long>(wanted)));
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(equal)));
#else
    unsigned mask = 0;
    for (unsigned i = 0; i < kEntries; ++i) mask |= static_cast<unsigned>(key[i] == wanted) << i;
    return mask;
#endif
  }
};
static_assert(sizeof(SourceBucket) == 64);

// One thread calls everything but counts().
class SourceTable {
 public:
  struct Settings {
    std::uint32_t entries = 1 << 18;     // rounded up to a power of two, at least 64, at most 2^28
    std::uint16_t cookie_seconds = 120;  // how long a proof holds without traffic
    std::uint16_t vouched_seconds = 3600;
    std::uint16_t syn_per_second = 50;  // SYNs of a proven source that pass in a second of the clock; at most 32767
    std::uint16_t flows_each = 4096;    // proxied connections of one source
    friend bool operator==(const Settings&, const Settings&) = default;
  };
  struct Counts {
    std::uint64_t entries = 0, live = 0;                   // live: looked at by sweep(), so some seconds old
    std::uint64_t inserted = 0, evicted = 0, refused = 0;  // evicted: before their time; refused: no room for a new one
  };
  // One word a source: what hot functions take. IPv4 addresses lie in ffff:ffff::/32, which is no source's: it is of
  // multicast. 0 stands for no source, and is never proven.
  using Key = std::uint64_t;
  [[nodiscard]] static Key key_of(const FourTuple& tuple) {
    if (tuple.is_v6 == 0) {
      std::uint32_t address = 0;
      std::memcpy(&address, tuple.client.data(), sizeof address);
      return kIpv4 | __builtin_bswap32(address);
    }
    std::uint64_t prefix = 0;
    std::memcpy(&prefix, tuple.client.data(), sizeof prefix);
    return __builtin_bswap64(prefix);
  }

  [[nodiscard]] static std::size_t memory_bytes(const Settings& settings);
  // `memory` has memory_bytes() octets on a cache line: zeroed for an empty table, or what an earlier table left there
  // under the same settings and secret (state_file.h). What is found there and cannot be from such a table is taken
  // out.
  SourceTable(const Settings& settings, std::span<std::uint8_t> memory, std::uint64_t secret);
  SourceTable(const SourceTable&) = delete;
  SourceTable& operator=(const SourceTable&) = delete;

  void prefetch(Key key) const {
    const std::uint64_t hash = hash_.of(key);
    prefetch_line(buckets_ + first(hash));
    prefetch_line(buckets_ + second(hash));
  }
  // kNone: unknown, or its time is over. `now` in seconds, from any beginning, the same for all calls.
  [[nodiscard]] Proof find(Key key, std::uint32_t now) const {
    const Place at = place_of(key);
    return at.bucket == nullptr ? Proof::kNone : live_proof(*at.bucket, at.entry, now);
  }
  // find(), and a proof of the same strength begins anew. One cache line is written at most once a second a source.
  Proof touch(Key key, std::uint32_t now) {
    const Place at = place_of(key);
    if (at.bucket == nullptr) return Proof::kNone;
    const Proof proof = live_proof(*at.bucket, at.entry, now);
    if (proof != Proof::kNone) see(*at.bucket, at.entry, now);
    return proof;
  }
  // The source has proven itself now. A stronger proof that holds stays, and begins anew. False: no room.
  bool put(Key key, Proof proof, std::uint32_t now);
  // One SYN of a proven source: false if it has none left this second, or is not proven. The proof does not begin anew,
  // because any machine can send a SYN in the name of this source.
  [[nodiscard]] bool take_syn(Key key, std::uint32_t now) {
    const Place at = place_of(key);
    if (at.bucket == nullptr || live_proof(*at.bucket, at.entry, now) == Proof::kNone) return false;
    SourceBucket& bucket = *at.bucket;
    std::uint16_t& syns = bucket.syns[at.entry];
    std::uint32_t& seen = bucket.seen[at.entry];
    if (seen >> 24 != (now & 0xff)) {
      seen = now << 24 | (seen & SourceBucket::kSeenMask);
      syns &= SourceBucket::kVouchedBit;
    }
    if ((syns & ~SourceBucket::kVouchedBit) >= syn_per_second_) return false;
    ++syns;
    return true;
  }
  // Proxied connections of a source: false if it is at its limit or not proven. give_flow() takes one back.
  [[nodiscard]] bool take_flow(Key key, std::uint32_t now) {
    const Place at = place_of(key);
    if (at.bucket == nullptr || live_proof(*at.bucket, at.entry, now) == Proof::kNone) return false;
    std::uint16_t& flows = at.bucket->flows[at.entry];
    if (flows >= settings_.flows_each) return false;
    ++flows;
    return true;
  }
  void give_flow(Key key) {
    const Place at = place_of(key);
    if (at.bucket != nullptr && at.bucket->flows[at.entry] != 0) --at.bucket->flows[at.entry];
  }
  // For recount_flows() (recount.h): no source has flows; one more, whatever the limit and the time say.
  void forget_flows();
  void add_flow(Key key);

  bool remove(Key key);  // false: there was none
  void clear();
  // Looks at `buckets` more buckets; counts the live ones, and frees entries whose time is over and that have no flows.
  void sweep(std::uint32_t now, unsigned buckets);
  [[nodiscard]] Counts counts() const;
  [[nodiscard]] std::uint32_t buckets() const { return mask_ + 1; }

 private:
  static constexpr Key kIpv4 = 0xffffffff'00000000ULL;
  struct Place {
    SourceBucket* bucket = nullptr;
    unsigned entry = 0;
  };

  [[nodiscard]] std::uint32_t first(std::uint64_t hash) const { return static_cast<std::uint32_t>(hash) & mask_; }
  [[nodiscard]] std::uint32_t second(std::uint64_t hash) const {  // another one
    const auto other = static_cast<std::uint32_t>(hash >> 32) & mask_;
    return other == first(hash) ? other ^ 1 : other;
  }
  [[nodiscard]] Place place_of(Key key) const {
    const std::uint64_t hash = hash_.of(key);
    SourceBucket* bucket = buckets_ + first(hash);
    unsigned hit = bucket->match(key);
    if (hit == 0) {
      bucket = buckets_ + second(hash);
      hit = bucket->match(key);
    }
    if (hit == 0 || key == 0) return {};
    return {bucket, static_cast<unsigned>(__builtin_ctz(hit))};
  }
  [[nodiscard]] Proof live_proof(const SourceBucket& bucket, unsigned entry, std::uint32_t now) const {
    const bool vouched = (bucket.syns[entry] & SourceBucket::kVouchedBit) != 0;
    const std::uint32_t holds = vouched ? settings_.vouched_seconds : settings_.cookie_seconds;
    if (age<24>(now, bucket.seen[entry]) > holds) return Proof::kNone;
    return vouched ? Proof::kVouched : Proof::kCookie;
  }
  static void see(SourceBucket& bucket, unsigned entry, std::uint32_t now) {
    std::uint32_t& seen = bucket.seen[entry];
    const std::uint32_t fresh = (seen & ~SourceBucket::kSeenMask) | (now & SourceBucket::kSeenMask);
    if (seen != fresh) seen = fresh;
  }
  static void free_entry(SourceBucket& bucket, unsigned entry);
  [[nodiscard]] Place free_in(std::uint32_t bucket) const;
  [[nodiscard]] std::uint32_t other(const SourceBucket& bucket, unsigned entry) const;  // bucket of an entry
  static void move(Place from, Place to);
  [[nodiscard]] Place by_moving(SourceBucket* one, SourceBucket* two, bool far);
  [[nodiscard]] Place make_room(SourceBucket* one, SourceBucket* two, Proof proof, std::uint32_t now);
  [[nodiscard]] Place room_for(std::uint64_t hash, Proof proof, std::uint32_t now);
  void take_out_unsound();

  Settings settings_;
  KeyedHash hash_;
  SourceBucket* buckets_;
  std::uint32_t mask_;
  std::uint32_t syn_per_second_;
  std::uint32_t swept_ = 0;          // the next bucket for sweep()
  std::uint64_t live_of_round_ = 0;  // live entries of this round of sweep()
  Counter live_, inserted_, evicted_, refused_;
};

}  // namespace splitplane::guard

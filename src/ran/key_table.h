// A table for bearer lookup: from a UE's IPv4 or IPv6 address, or a TEID that another node assigned, to a bearer. It
// uses open addressing. A bucket is one cache line with keys and values together, so a lookup costs one line. One
// worker owns it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#if defined(__AVX2__) || defined(__SSE4_2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/expected.h"
#include "base/outcome_list.h"

namespace splitplane::ran {

using Ipv4Key = std::uint32_t;  // as loaded from the packet: octet order does not matter here, only equality
using Ipv6Key = std::array<std::uint8_t, 16>;

#define SPLITPLANE_KEY_INSERTS(X)        \
  X(inserted, "the key is new")          \
  X(replaced, "the key has a new value") \
  X(full, "no free slot within the probe limit")
SPLITPLANE_OUTCOMES(KeyInsert, SPLITPLANE_KEY_INSERTS)

namespace key_hash {

// One step of CRC32C (polynomial 0x1edc6f41, reflected) over the octets of `word`, in plain C++; what SSE 4.2 computes.
template <class Word>
[[nodiscard]] constexpr std::uint32_t crc32c_plain(std::uint32_t crc, Word word) {
  for (std::size_t i = 0; i < sizeof word; ++i) {
    crc ^= static_cast<std::uint8_t>(word >> (8 * i));
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0x82f63b78U & (0U - (crc & 1U)));
  }
  return crc;
}

[[nodiscard]] inline std::uint32_t crc32c(std::uint32_t crc, std::uint32_t word) {
#if defined(__SSE4_2__)
  return _mm_crc32_u32(crc, word);
#else
  return crc32c_plain(crc, word);
#endif
}

[[nodiscard]] inline std::uint32_t crc32c(std::uint32_t crc, std::uint64_t word) {
#if defined(__SSE4_2__)
  return static_cast<std::uint32_t>(_mm_crc32_u64(crc, word));
#else
  return crc32c_plain(crc, word);
#endif
}

// CRC32C spreads consecutive keys. It is linear, so its start value does not change which keys collide. The seeded
// multiplication after it makes the collisions secret.
struct Seed {
  std::uint64_t multiplier, low, high;
  std::uint32_t start;
};
[[nodiscard]] Seed expand(std::uint64_t seed);

[[nodiscard]] inline std::uint32_t hash(const Seed& seed, Ipv4Key key) {
  return static_cast<std::uint32_t>((crc32c(seed.start, key) * seed.multiplier) >> 32);
}

[[nodiscard]] inline std::uint32_t hash(const Seed& seed, const Ipv6Key& key) {
  __extension__ using Wide = unsigned __int128;
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::memcpy(&low, key.data(), sizeof low);
  std::memcpy(&high, key.data() + sizeof low, sizeof high);
  // 16 octets do not fit into the CRC without loss, and an attacker could exploit a linear loss. So a seeded product
  // folds them.
  const Wide product = Wide{low ^ seed.low} * (high ^ seed.high);
  const std::uint64_t folded = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  return static_cast<std::uint32_t>((crc32c(seed.start, folded) * seed.multiplier) >> 32);
}

}  // namespace key_hash

template <class Key>
struct KeyBucket;

// `occupied` has a bit per slot, so every key value is allowed. `overflow` counts the entries that were placed in later
// buckets because this one was full. It is exact, so erasing leaves no tombstone, and a miss stops at the first 0.
// kMaxProbe is the number of buckets, home first, in which a key may lie. It bounds the worst case only: at half load,
// 48 tables of a million entries refused none. The mean distance was 0.014 buckets (IPv4) and 0.09 (IPv6), the longest
// 8 and 19.
template <>
struct alignas(64) KeyBucket<Ipv4Key> {
  static constexpr unsigned kSlots = 7;
  static constexpr unsigned kMaxProbe = 16;
  std::array<Ipv4Key, kSlots> key;
  std::uint8_t occupied;
  std::uint8_t reserved;
  std::uint16_t overflow;
  std::array<std::uint32_t, kSlots> value;
  std::uint32_t reserved_too;

  // A bit for each slot that holds `wanted` (at most one).
  [[nodiscard]] unsigned match(Ipv4Key wanted) const {
#if defined(__AVX2__)
    const __m256i keys = _mm256_load_si256(reinterpret_cast<const __m256i*>(this));
    const __m256i equal = _mm256_cmpeq_epi32(keys, _mm256_set1_epi32(static_cast<int>(wanted)));
    const auto mask = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(equal)));
#elif defined(__SSE2__)
    const __m128i* const half = reinterpret_cast<const __m128i*>(this);
    const __m128i pattern = _mm_set1_epi32(static_cast<int>(wanted));
    const __m128i first = _mm_cmpeq_epi32(_mm_load_si128(half), pattern);
    const __m128i second = _mm_cmpeq_epi32(_mm_load_si128(half + 1), pattern);
    const auto mask = static_cast<unsigned>(_mm_movemask_ps(_mm_castsi128_ps(first))) |
                      static_cast<unsigned>(_mm_movemask_ps(_mm_castsi128_ps(second))) << 4;
#else
    unsigned mask = 0;
    for (unsigned i = 0; i < kSlots; ++i) mask |= static_cast<unsigned>(key[i] == wanted) << i;
#endif
    return mask & occupied;  // also clears what the eighth word, no key, matched
  }
};

template <>
struct alignas(64) KeyBucket<Ipv6Key> {
  static constexpr unsigned kSlots = 3;
  static constexpr unsigned kMaxProbe = 32;
  std::array<Ipv6Key, kSlots> key;
  std::array<std::uint32_t, kSlots> value;
  std::uint8_t occupied;
  std::uint8_t reserved;
  std::uint16_t overflow;

  [[nodiscard]] unsigned match(const Ipv6Key& wanted) const {
    unsigned mask = 0;
#if defined(__SSE2__)
    const __m128i pattern = _mm_loadu_si128(reinterpret_cast<const __m128i*>(wanted.data()));
    for (unsigned i = 0; i < kSlots; ++i) {
      const __m128i slot = _mm_load_si128(reinterpret_cast<const __m128i*>(key[i].data()));
      mask |= static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(slot, pattern)) == 0xffff) << i;
    }
#else
    for (unsigned i = 0; i < kSlots; ++i) mask |= static_cast<unsigned>(key[i] == wanted) << i;
#endif
    return mask & occupied;
  }
};

static_assert(sizeof(KeyBucket<Ipv4Key>) == 64 && sizeof(KeyBucket<Ipv6Key>) == 64);

// Instantiated for Ipv4Key (also for TEIDs) and Ipv6Key. One thread writes and reads. The table never allocates: the
// owner provides the memory, which outlives the table.
template <class Key>
class KeyTable {
 public:
  using Bucket = KeyBucket<Key>;
  static constexpr unsigned kMaxProbe = Bucket::kMaxProbe;
  static constexpr std::size_t kMaxBulk = 64;

  struct Stats {
    std::size_t entries = 0;
    std::size_t slots = 0;
    std::uint64_t refused = 0;                         // inserts that found no slot
    std::array<std::size_t, kMaxProbe> at_distance{};  // entries by buckets between home and place
    [[nodiscard]] std::size_t displaced() const { return entries - at_distance[0]; }
  };

  // Octets for `capacity` entries at half load. It is the largest std::size_t if a table cannot index that many.
  [[nodiscard]] static std::size_t bytes_needed(std::size_t capacity);
  // `memory` has at least bytes_needed(capacity) octets, aligned to 64. `seed` should be random and different in each
  // process.
  [[nodiscard]] static Expected<KeyTable> create(std::span<std::byte> memory, std::size_t capacity, std::uint64_t seed);

  KeyTable(KeyTable&&) noexcept = default;
  KeyTable& operator=(KeyTable&&) noexcept = default;
  KeyTable(const KeyTable&) = delete;
  KeyTable& operator=(const KeyTable&) = delete;

  KeyInsert insert(const Key& key, std::uint32_t value);
  bool erase(const Key& key);  // false: there was no such key
  void clear();                // entries only; `refused` continues

  // Starts loading the key's home bucket and returns its number, for find_at() some packets later.
  std::uint32_t prefetch(const Key& key) const {
    const std::uint32_t home = home_of(key);
    __builtin_prefetch(buckets_ + home);
    return home;
  }
  [[nodiscard]] std::optional<std::uint32_t> find_at(std::uint32_t home, const Key& key) const {
    const Bucket* bucket = buckets_ + home;
    for (unsigned distance = 1;; ++distance) {
      if (const unsigned hit = bucket->match(key); hit != 0) return bucket->value[slot_of(hit)];
      if (bucket->overflow == 0 || distance == probe_limit_) return std::nullopt;
      bucket = next(bucket);
    }
  }
  [[nodiscard]] std::optional<std::uint32_t> find(const Key& key) const { return find_at(home_of(key), key); }

  // Looks up a burst of at most kMaxBulk keys and starts all loads before the first comparison. Bit i of the result:
  // keys[i] was found, and values[i] is its value. Other values stay as they were.
  [[nodiscard]] std::uint64_t find_bulk(std::span<const Key> keys, std::span<std::uint32_t> values) const {
    assert(keys.size() <= kMaxBulk && keys.size() <= values.size());
    const std::size_t n = std::min({keys.size(), values.size(), kMaxBulk});
    std::array<std::uint32_t, kMaxBulk> homes;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before read
    for (std::size_t i = 0; i < n; ++i) homes[i] = prefetch(keys[i]);
    std::uint64_t hits = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (const auto value = find_at(homes[i], keys[i])) {
        values[i] = *value;
        hits |= std::uint64_t{1} << i;
      }
    }
    return hits;
  }

  // The first bucket in which a key is looked up.
  [[nodiscard]] std::uint32_t home_of(const Key& key) const {
    return static_cast<std::uint32_t>((std::uint64_t{key_hash::hash(seed_, key)} * bucket_count_) >> 32);
  }
  [[nodiscard]] std::uint32_t bucket_count() const { return bucket_count_; }
  [[nodiscard]] std::size_t size() const { return stats_.entries; }
  [[nodiscard]] const Stats& stats() const { return stats_; }

 private:
  struct Place {
    Bucket* bucket = nullptr;
    unsigned slot = 0;
    unsigned distance = 0;
  };

  KeyTable(Bucket* buckets, std::uint32_t bucket_count, std::uint64_t seed);
  [[nodiscard]] static unsigned slot_of(unsigned mask) { return static_cast<unsigned>(std::countr_zero(mask)); }
  template <class B>
  [[nodiscard]] B* next(B* bucket) const {
    return bucket + 1 == buckets_ + bucket_count_ ? static_cast<B*>(buckets_) : bucket + 1;
  }
  [[nodiscard]] unsigned distance_of(const Bucket* bucket, std::uint32_t home) const {
    const auto number = static_cast<std::uint32_t>(bucket - buckets_);
    return number >= home ? number - home : number + (bucket_count_ - home);
  }
  [[nodiscard]] Place place_of(const Key& key) const;
  Place pull_back_into(const Place& hole);

  Bucket* buckets_;
  std::uint32_t bucket_count_;
  unsigned probe_limit_;  // kMaxProbe, or the number of buckets if that is less
  key_hash::Seed seed_;
  Stats stats_;
};

}  // namespace splitplane::ran

// Proxied connections of one worker: a table of fixed size, filled only behind a valid cookie. Buckets of eight flows
// with 16-bit tags, two buckets a flow: the second follows from the first and the tag, as in a cuckoo filter (Fan et
// al. 2014, 3.1), so that a flow can move to its other bucket and make room.
//
// When both buckets of a new flow are full, a flow whose time is over makes room, then one that is closed, then one
// that has room in its other bucket, then one whose both sides have sent FIN. A connection that is established is never
// pushed out before its time.
//
// Memory: 64 octets a flow and 2 its tag. The first flow is refused at a load above 0.9, so a million flows take 73 MB.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/counter.h"
#include "guard/cookie/four_tuple.h"
#include "guard/state/age.h"
#include "guard/state/keyed_hash.h"
#include "guard/state/prefetch.h"

namespace splitplane::guard {

enum class FlowState : std::uint8_t {
  kFree,
  kConnecting,  // the client proved itself; the server has a SYN of ours
  kEstablished,
  kClosing,  // FINs of both sides, or a RST that may be forged. One FIN changes nothing: such a connection may go on
  kClosed,   // a RST that its receiver takes: kept for late segments
};

// One cache line. Numbers in host order, modulo 2^32. A process may be killed between two stores: set `state` last.
struct alignas(64) Flow {
  std::array<std::uint8_t, 16> client{}, server{};
  std::uint16_t client_port = 0, server_port = 0, vlan = 0;
  std::uint8_t is_v6 = 0;
  FlowState state = FlowState::kFree;
  std::uint8_t flags = 0;             // kHasTimestamps ...
  std::uint8_t server_scale = 0;      // window scale that the server announced
  std::uint8_t told_scale = 0;        // the one that we announced to the client in its name
  std::uint8_t mss_index : 3 = 0;     // of kCookieMss
  std::uint8_t cookie_kind : 1 = 0;   // which of two kinds of cookie it was made by (proxy.h)
  std::uint8_t client_scale : 4 = 0;  // window scale that the client announced
  std::uint32_t seen = 0;             // seconds; of the last segment of either side
  // Added to the server's sequence numbers on their way to the client. While connecting: as if the server's ISN were 0,
  // so it is our ISN.
  std::uint32_t sequence_delta = 0;
  std::uint32_t ts_delta = 0;     // the same for the server's TSval
  std::uint32_t client_next = 0;  // the client's next octet, as far as the server has acknowledged
  std::uint32_t client_sent = 0;  // the end of what the client has sent. While connecting: proxy.h

  // kServerUnscaled: the client scales its window, and the server does not know it. kChallenged: a SYN came for the
  // tuple of the connection, and got a cookie.
  static constexpr std::uint8_t kHasTimestamps = 1, kSackPermitted = 2, kHasScale = 4, kEcn = 8, kClientFin = 16,
                                kServerFin = 32, kServerUnscaled = 64, kChallenged = 128;
};
static_assert(sizeof(Flow) == 64);

// One thread calls everything but counts().
class FlowTable {
 public:
  struct Settings {
    std::uint32_t entries = 1 << 17;  // rounded up to a power of two, at least 64, at most 2^26
    std::uint16_t connecting_seconds = 5;
    // Without a segment of either side. Two hours and four minutes: longer than keep-alives wait (RFC 5382 5).
    std::uint16_t established_seconds = 7440;
    std::uint16_t closing_seconds = 240;  // RFC 5382 5, REQ-5
    std::uint16_t closed_seconds = 5;
    friend bool operator==(const Settings&, const Settings&) = default;
  };
  struct Counts {
    std::uint64_t entries = 0, used = 0;  // used: exact, with those that are over and still in the table
    std::uint64_t inserted = 0, refused = 0, expired = 0;
  };
  [[nodiscard]] static std::size_t memory_bytes(const Settings& settings);
  // As SourceTable's. What is found in `memory` and is no sound entry is taken out.
  FlowTable(const Settings& settings, std::span<std::uint8_t> memory, std::uint64_t secret);
  FlowTable(const FlowTable&) = delete;
  FlowTable& operator=(const FlowTable&) = delete;

  using Hash = std::uint64_t;
  [[nodiscard]] Hash hash_of(const FourTuple& tuple) const { return hash_.of(tuple); }
  // Its tags, of both buckets.
  void prefetch(Hash hash) const {
    const std::uint32_t bucket = first(hash);
    prefetch_line(tags_ + bucket);
    prefetch_line(tags_ + other(bucket, tag_of(hash)));
  }
  // The first flow of the tags that fits.
  void prefetch_flow(Hash hash) const {
    const std::uint16_t tag = tag_of(hash);
    std::uint32_t bucket = first(hash);
    unsigned hits = match(bucket, tag);
    if (hits == 0) hits = match(bucket = other(bucket, tag), tag);
    if (hits != 0) prefetch_line(flows_ + bucket * kSlots + lowest(hits));
  }
  // nullptr: none, or its time is over. Does not change `seen`. Good until the next insert(), which may move flows.
  [[nodiscard]] Flow* find(const FourTuple& tuple, Hash hash, std::uint32_t now) {
    Flow* const flow = place_of(tuple, hash);
    return flow == nullptr || is_over(*flow, now) ? nullptr : flow;
  }
  // A new flow in state kConnecting with its tuple and `seen` set; nullptr: both buckets are full of flows whose time
  // is not over. An earlier flow of the tuple leaves the table. on_gone() hears of each flow that does.
  [[nodiscard]] Flow* insert(const FourTuple& tuple, Hash hash, std::uint32_t now);
  void remove(Flow* flow);
  // Removes flows whose time is over from `buckets` more buckets.
  void sweep(std::uint32_t now, unsigned buckets);
  // Called with each flow that leaves the table by remove(), sweep() or insert(), before it is freed.
  void on_gone(void (*hear)(void* with, const Flow& flow), void* with) {
    hear_gone_ = hear;
    gone_with_ = with;
  }
  [[nodiscard]] Counts counts() const;
  [[nodiscard]] std::uint64_t used() const { return used_.get(); }  // as counts() says
  [[nodiscard]] std::uint32_t buckets() const { return mask_ + 1; }
  template <class F>
  void for_each(F&& f) const {
    for (std::uint32_t bucket = 0; bucket <= mask_; ++bucket) {
      for (unsigned slot = 0; slot < kSlots; ++slot) {
        if (tags_[bucket].tag[slot] != 0) f(static_cast<const Flow&>(flows_[bucket * kSlots + slot]));
      }
    }
  }

 private:
  static constexpr unsigned kSlots = 8;
  struct alignas(16) Tags {  // 0: the slot is free
    std::array<std::uint16_t, kSlots> tag;
  };
  struct Place {
    std::uint32_t bucket = 0;
    unsigned slot = kSlots;  // kSlots: none
  };

  [[nodiscard]] static unsigned lowest(unsigned mask) { return static_cast<unsigned>(__builtin_ctz(mask)); }
  [[nodiscard]] static std::uint16_t tag_of(Hash hash) {
    const auto tag = static_cast<std::uint16_t>(hash >> 48);
    return tag == 0 ? std::uint16_t{1} : tag;
  }
  [[nodiscard]] std::uint32_t first(Hash hash) const { return static_cast<std::uint32_t>(hash) & mask_; }
  // The other bucket of a flow: from the second back to the first, too. Never the same.
  [[nodiscard]] std::uint32_t other(std::uint32_t bucket, std::uint16_t tag) const {
    return bucket ^ ((static_cast<std::uint32_t>(tag * 0x9e3779b97f4a7c15ULL >> 32) & mask_) | 1);
  }
  // A bit for each slot of the bucket with this tag.
  [[nodiscard]] unsigned match(std::uint32_t bucket, std::uint16_t tag) const {
#if defined(__SSE2__)
    const __m128i tags = _mm_load_si128(reinterpret_cast<const __m128i*>(tags_ + bucket));
    const __m128i equal = _mm_cmpeq_epi16(tags, _mm_set1_epi16(static_cast<short>(tag)));
    return static_cast<unsigned>(_mm_movemask_epi8(_mm_packs_epi16(equal, _mm_setzero_si128())));
#else
    unsigned mask = 0;
    for (unsigned i = 0; i < kSlots; ++i) mask |= static_cast<unsigned>(tags_[bucket].tag[i] == tag) << i;
    return mask;
#endif
  }
  // Addresses, ports, VLAN and family lie at the head of both, in the same order.
  static constexpr std::size_t kTupleBytes = 39;
  static_assert(offsetof(FourTuple, is_v6) == kTupleBytes - 1 && offsetof(Flow, is_v6) == kTupleBytes - 1);
  static_assert(offsetof(FourTuple, client_port) == 32 && offsetof(Flow, client_port) == 32);
  [[nodiscard]] static bool is_of(const Flow& flow, const FourTuple& tuple) {
#if defined(__SSE2__)
    const auto* const a = reinterpret_cast<const __m128i*>(&flow);
    const auto* const b = reinterpret_cast<const __m128i*>(&tuple);
    const __m128i addresses = _mm_and_si128(_mm_cmpeq_epi8(_mm_load_si128(a), _mm_load_si128(b)),
                                            _mm_cmpeq_epi8(_mm_load_si128(a + 1), _mm_load_si128(b + 1)));
    const __m128i rest = _mm_cmpeq_epi8(_mm_load_si128(a + 2), _mm_load_si128(b + 2));
    constexpr int kRest = (1 << (kTupleBytes - 32)) - 1;
    return _mm_movemask_epi8(addresses) == 0xffff && (_mm_movemask_epi8(rest) & kRest) == kRest;
#else
    return std::memcmp(&flow, &tuple, kTupleBytes) == 0;
#endif
  }
  [[nodiscard]] Flow* place_of(const FourTuple& tuple, Hash hash) const {
    const std::uint16_t tag = tag_of(hash);
    std::uint32_t bucket = first(hash);
    for (unsigned both = 0; both < 2; ++both, bucket = other(bucket, tag)) {
      for (unsigned hits = match(bucket, tag); hits != 0; hits &= hits - 1) {
        Flow& flow = flows_[bucket * kSlots + lowest(hits)];
        if (is_of(flow, tuple)) [[likely]]
          return &flow;
      }
    }
    return nullptr;
  }
  [[nodiscard]] bool is_over(const Flow& flow, std::uint32_t now) const {
    return age(now, flow.seen) > holds_[static_cast<std::size_t>(flow.state) % holds_.size()];
  }

  [[nodiscard]] bool is_sound(std::uint32_t bucket, unsigned slot) const;
  void take_out_unsound();
  void free_slot(std::uint32_t bucket, unsigned slot);
  void let_go(Place place);
  void move(Place from, Place to);
  [[nodiscard]] Place free_in(std::uint32_t bucket) const;
  [[nodiscard]] Place emptier(std::uint32_t one, std::uint32_t two) const;
  [[nodiscard]] Place over_or(FlowState state, std::uint32_t one, std::uint32_t two, std::uint32_t now) const;
  void make_room(Place place, std::uint32_t now);
  [[nodiscard]] Place by_moving(std::uint32_t one, std::uint32_t two);

  Settings settings_;
  KeyedHash hash_;
  std::uint32_t mask_;
  Tags* tags_;
  Flow* flows_;
  std::array<std::uint32_t, 8> holds_{};  // seconds of each state
  void (*hear_gone_)(void* with, const Flow& flow) = nullptr;
  void* gone_with_ = nullptr;
  std::uint32_t swept_ = 0;  // the next bucket for sweep()
  Counter used_, inserted_, refused_, expired_;
};

[[nodiscard]] FourTuple tuple_of(const Flow& flow);

}  // namespace splitplane::guard

// Proxied connections of one worker: a table of fixed size, filled only behind a valid cookie. Buckets of eight flows
// with 16-bit tags, two buckets a flow. A connection that is established is never pushed out before its time.
#pragma once

#include <cstdint>
#include <span>

#include "guard/cookie/four_tuple.h"

namespace splitplane::guard {

enum class FlowState : std::uint8_t {
  kFree,
  kConnecting,   // the client proved itself; the server has a SYN of ours
  kEstablished,
  kClosing,      // a FIN of one side
  kClosed,       // FINs of both sides, or a RST: kept for late segments
};

// One cache line. Numbers in host order, modulo 2^32.
struct alignas(64) Flow {
  std::array<std::uint8_t, 16> client{}, server{};
  std::uint16_t client_port = 0, server_port = 0, vlan = 0;
  std::uint8_t is_v6 = 0;
  FlowState state = FlowState::kFree;
  std::uint8_t flags = 0;         // kHasTimestamps ...
  std::uint8_t server_scale = 0;  // window scale that the server announced
  std::uint8_t told_scale = 0;    // the one that we announced to the client in its name
  std::uint8_t mss_index = 0;     // of kCookieMss
  std::uint32_t seen = 0;         // seconds; of the last segment of either side
  std::uint32_t sequence_delta = 0;  // added to the server's sequence numbers on their way to the client
  std::uint32_t ts_delta = 0;        // the same for the server's TSval
  std::uint32_t client_isn = 0;
  std::uint32_t cookie_isn = 0;      // ours, towards the client

  static constexpr std::uint8_t kHasTimestamps = 1, kSackPermitted = 2, kHasScale = 4, kEcn = 8, kClientFin = 16,
                                kServerFin = 32;
};
static_assert(sizeof(Flow) == 64);

class FlowTable {
 public:
  struct Settings {
    std::uint32_t entries = 1 << 17;  // rounded up to a power of two, at least 64
    std::uint16_t connecting_seconds = 5;
    std::uint16_t established_seconds = 7200;  // without a segment of either side
    std::uint16_t closing_seconds = 60;
    std::uint16_t closed_seconds = 5;
  };
  struct Counts {
    std::uint64_t entries = 0, used = 0;  // used: exact, with those whose time is over and that nobody took out yet
    std::uint64_t inserted = 0, refused = 0, expired = 0;
  };
  [[nodiscard]] static std::size_t memory_bytes(const Settings& settings);
  // As SourceTable's. What is found in `memory` and is no sound entry is taken out.
  FlowTable(const Settings& settings, std::span<std::uint8_t> memory, std::uint64_t secret);

  using Hash = std::uint64_t;
  [[nodiscard]] Hash hash_of(const FourTuple& tuple) const;
  void prefetch(Hash hash) const;        // its tags
  void prefetch_flow(Hash hash) const;   // the first flow of the tags that fits
  // nullptr: none, or its time is over. Does not change `seen`.
  [[nodiscard]] Flow* find(const FourTuple& tuple, Hash hash, std::uint32_t now);
  // A new flow in state kConnecting with its tuple and `seen` set; nullptr: both buckets are full of flows whose time is
  // not over. `on_gone` of sweep() hears of a flow whose place is taken.
  [[nodiscard]] Flow* insert(const FourTuple& tuple, Hash hash, std::uint32_t now);
  void remove(Flow* flow);
  // Removes flows whose time is over from `buckets` more buckets.
  void sweep(std::uint32_t now, unsigned buckets);
  // Called with each flow that leaves the table by remove(), sweep() or insert(), before it is freed.
  void on_gone(void (*hear)(void* with, const Flow& flow), void* with);
  [[nodiscard]] Counts counts() const;
  template <class F>
  void for_each(F&& f) const;
};

[[nodiscard]] FourTuple tuple_of(const Flow& flow);

}  // namespace splitplane::guard

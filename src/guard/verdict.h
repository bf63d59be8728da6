// What the guard decides about a received packet, and where packets wait that a burst sends.
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <cstdint>

#include "guard/segment/outcome.h"
#include "guard/segment/segment.h"

namespace splitplane::guard {

// Where a received packet goes.
enum class Way : std::uint8_t {
  kForward,  // out of the other side
  kReply,    // back out of the side that it came from
  kDrop,     // freed, and counted as dropped
  kConsume,  // freed: its work is done here
};

// Packet and outcome belong together: the outcome is counted when the packet is sent or freed. So a packet that its
// port does not take counts as tx_full and as nothing else.
struct Verdict {
  Outcome outcome = Outcome::passed;
  Way way = Way::kForward;

  static constexpr Verdict forward(Outcome outcome) { return {outcome, Way::kForward}; }
  static constexpr Verdict reply(Outcome outcome) { return {outcome, Way::kReply}; }
  static constexpr Verdict drop(Outcome outcome) { return {outcome, Way::kDrop}; }
  static constexpr Verdict consume(Outcome outcome) { return {outcome, Way::kConsume}; }
};

// Packets that the guard makes beside those that it received.
// clang-format off
#define SPLITPLANE_GUARD_MADE(X)                                                            \
  X(window_update, "told a client that its server has answered, and the server's window")   \
  X(syn_again, "a SYN to a server that had not answered, sent again by time")
// clang-format on
SPLITPLANE_OUTCOMES(Made, SPLITPLANE_GUARD_MADE)

// The packets of a burst on their way out, a list for each side, in the order in which they were added.
class Outbox {
 public:
  // Each received packet of a burst makes at most one packet of its own.
  static constexpr unsigned kPlaces = 64;
  static constexpr std::uint8_t kMadeTag = 0x80;

  struct List {
    std::array<rte_mbuf*, kPlaces> mbuf;
    std::array<std::uint8_t, kPlaces> tag;  // an Outcome, or kMadeTag and a Made
    unsigned size = 0;
  };

  // A received packet. There is room for a burst of them, each with one that was made.
  void add(rte_mbuf* m, Side to, Outcome outcome) { push(m, to, static_cast<std::uint8_t>(outcome)); }
  // A packet that the guard made. False: no room, and the packet is still the caller's.
  [[nodiscard]] bool make(rte_mbuf* m, Side to, Made what) {
    if (list(to).size == kPlaces) [[unlikely]]
      return false;
    push(m, to, static_cast<std::uint8_t>(kMadeTag | static_cast<std::uint8_t>(what)));
    return true;
  }
  [[nodiscard]] unsigned room(Side to) const { return kPlaces - lists_[static_cast<std::size_t>(to)].size; }
  [[nodiscard]] List& list(Side to) { return lists_[static_cast<std::size_t>(to)]; }

 private:
  void push(rte_mbuf* m, Side to, std::uint8_t tag) {
    List& l = list(to);
    l.mbuf[l.size] = m;
    l.tag[l.size++] = tag;
  }

  std::array<List, 2> lists_;
};
static_assert(kOutcomeCount <= Outbox::kMadeTag);

[[nodiscard]] constexpr Side other(Side side) {
  return side == Side::kClient ? Side::kServer : Side::kClient;
}

}  // namespace splitplane::guard

// What a CardLink reports of its card: counters and state. `ctl stats`, `ctl card`, the metrics and DPDK's telemetry
// use the same names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace splitplane::app {

// Field, unit, help.
// clang-format off
#define SPLITPLANE_CARD_LINK_COUNTERS(X)                                                  \
  X(connects, "", "times that a card was reached anew")                                   \
  X(restarts, "", "of them, as another run of it: everything was installed again")        \
  X(installed, "", "bearers installed on a card, again included")                         \
  X(removed, "", "bearers removed from a card")                                           \
  X(refused, "", "bearers that a card refused")                                           \
  X(leases_renewed, "", "leases of COUNTs moved on")                                      \
  X(failures, "", "requests to a card that failed or were not answered")                  \
  X(punted, "packets", "given to this host by all runs of a card together, as it last said")
// clang-format on

struct CardLinkView {
  std::string name, control;
  bool up = false;             // the card answers, and packets pass between it and this host
  bool filled = false;         // it has had all bearers since it is up, so that they may move
  bool cut_off = false;        // the card answers, but no packet passes
  std::uint32_t serves = 0;    // bearers that the card serves itself; it passes packets of the others to their workers
  std::string reason;          // why it is not up
  std::string program, boot;   // of the card, when it was last up
  std::size_t bearers = 0;     // desired bearers
  std::uint64_t capacity = 0;  // bearers that the card has entries for; 0: it does not say
  std::size_t waiting = 0;     // of `bearers`, those that are not installed now and not absent
  std::size_t absent = 0;      // of `bearers`, the host's that have no entry: the card was full when it was last asked
  std::size_t fixed = 0;       // of `bearers`, the host's that need an entry
#define SPLITPLANE_CARD_LINK_FIELD(field, unit, help) std::uint64_t field = 0;
  SPLITPLANE_CARD_LINK_COUNTERS(SPLITPLANE_CARD_LINK_FIELD)
#undef SPLITPLANE_CARD_LINK_FIELD

  [[nodiscard]] const char* state() const { return up ? "up" : cut_off ? "cut off" : "away"; }
};

}  // namespace splitplane::app

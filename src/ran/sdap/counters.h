// What an SDAP entity counts: SDUs and octets of each QoS flow and direction, and drops by reason.
#pragma once

#include <array>
#include <cstdint>

#include "base/outcome_list.h"
#include "ran/sdap/drb.h"

namespace splitplane::ran::sdap {

#define SPLITPLANE_SDAP_DROPS(X)                                            \
  X(none, "not dropped")                                                    \
  X(bad_qfi, "QFI beyond 63")                                               \
  X(sdu_empty, "SDU without an octet")                                      \
  X(no_drb, "flow without a rule, and the session has no default DRB")      \
  X(unknown_drb, "PDU of a DRB that the session does not have")             \
  X(malformed, "PDU without an SDU, or control PDU of more than one octet") \
  X(no_qfi, "PDU without a header on a DRB that is not configured with its only flow")
SPLITPLANE_OUTCOMES(Drop, SPLITPLANE_SDAP_DROPS)

struct FlowCount {
  std::uint64_t sdus = 0, octets = 0;

  void add(std::size_t sdu_octets) {
    ++sdus;
    octets += sdu_octets;
  }
};

struct Counters {
  std::array<FlowCount, kFlows> sent{}, received{};
  FlowCount received_without_flow;  // at the UE, on DRBs without a DL header
  std::uint64_t end_markers_sent = 0, end_markers_received = 0;
  std::uint64_t rules_changed = 0;  // by configuration and by reflective mapping
  std::array<std::uint64_t, kDropCount> drops{};

  Drop drop(Drop why) {
    ++drops[static_cast<std::size_t>(why)];
    return why;
  }
  [[nodiscard]] std::uint64_t dropped(Drop why) const { return drops[static_cast<std::size_t>(why)]; }
};

}  // namespace splitplane::ran::sdap

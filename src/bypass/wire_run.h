// The ring driver on CPU threads between the soft NIC and any wire: captures, or a DPDK port. No tester checks the
// packets here; frames are counted in and out. A real NIC's link (card_run.h) gives the same account.
#pragma once

#include "bypass/scenario.h"
#include "nicmodel/wire.h"

namespace splitplane::bypass {

// arrived = delivered + lost at the NIC; delivered = sent + dropped + held. The NIC counts arrived, delivered, lost and
// sent frames; the engines count dropped and held ones.
struct WireRunResult {
  double seconds = 0;
  std::uint64_t arrived = 0, delivered = 0, dropped = 0, sent = 0;
  std::uint64_t held = 0;  // in the driver at the end: in a receive ring, a slot or a transmit ring
  std::uint64_t doorbells = 0, driver_packets = 0;
  std::vector<std::pair<std::string_view, std::uint64_t>> lost_at_nic;  // by reason
  std::vector<std::pair<std::string_view, std::uint64_t>> verdicts;     // what the function dropped, by reason
  std::vector<std::string> findings;
  std::vector<std::string> notes;  // unexpected observations of the NIC's control plane
  bool slots_sound = true;

  [[nodiscard]] std::uint64_t lost() const {
    std::uint64_t all = 0;
    for (const auto& [name, count] : lost_at_nic) all += count;
    return all;
  }
  // True if every frame is accounted for.
  [[nodiscard]] bool is_balanced() const { return arrived == delivered + lost() && delivered == sent + dropped + held; }
  // True if also none is left over, and no fault was found.
  [[nodiscard]] bool is_sound() const { return slots_sound && findings.empty() && is_balanced() && held == 0; }
};

// Runs until `observer` returns false. Then no more frames arrive, and those under way leave. `window` is the most
// frames under way; 0: as the wire has it.
[[nodiscard]] Expected<WireRunResult> run_on_wire(const Scenario& scenario, nicmodel::Wire& wire,
                                                  const Observer& observer, std::uint32_t window = 0);

}  // namespace splitplane::bypass

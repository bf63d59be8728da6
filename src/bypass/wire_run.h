// The ring driver on CPU threads between the soft NIC and any wire: captures, or a DPDK port. Nobody judges the packets
// here; what came and went is counted. A card's link (card_run.h) ends in the same books.
#pragma once

#include "bypass/scenario.h"
#include "nicmodel/wire.h"

namespace splitplane::bypass {

// arrived = delivered + lost at the NIC; delivered = sent + dropped + held. The NIC counted what arrived, was
// delivered, lost and sent; the engines what was dropped and held.
struct WireRunResult {
  double seconds = 0;
  std::uint64_t arrived = 0, delivered = 0, dropped = 0, sent = 0;
  std::uint64_t held = 0;  // with the driver at the end, in a receive ring, a slot or a transmit ring
  std::uint64_t doorbells = 0, driver_packets = 0;
  std::vector<std::pair<std::string_view, std::uint64_t>> lost_at_nic;  // by reason
  std::vector<std::pair<std::string_view, std::uint64_t>> verdicts;     // what the function dropped, by reason
  std::vector<std::string> findings;
  std::vector<std::string> notes;  // what the NIC's control plane found odd, and went on
  bool slots_sound = true;

  [[nodiscard]] std::uint64_t lost() const {
    std::uint64_t all = 0;
    for (const auto& [name, count] : lost_at_nic) all += count;
    return all;
  }
  // Every frame is accounted for ...
  [[nodiscard]] bool is_balanced() const { return arrived == delivered + lost() && delivered == sent + dropped + held; }
  // ... none is left over, and nobody found anything wrong.
  [[nodiscard]] bool is_sound() const { return slots_sound && findings.empty() && is_balanced() && held == 0; }
};

// Until `observer` says false; then nothing more arrives, and what is under way leaves. `window`: so many frames at
// most are on their way through; 0: as the wire has it.
[[nodiscard]] Expected<WireRunResult> run_on_wire(const Scenario& scenario, nicmodel::Wire& wire,
                                                  const Observer& observer, std::uint32_t window = 0);

}  // namespace splitplane::bypass

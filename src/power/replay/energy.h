// What a replayed core would take, by the prices of power/cost_table.h and how long it was in each state. It is
// modelled and never measured: compare policies by it, and look whether the order survives the band.
#pragma once

#include <string>
#include <vector>

#include "power/cost_table.h"
#include "power/replay/replay.h"

namespace splitplane::power::replay {

// A cost table with one price halved or doubled.
struct TableVariant {
  std::string what;  // "c6 x0.5"
  CostTable table;
};
// The sensitivity band: each price halved and doubled, one at a time. A share stays a share of 1. The lowest voltage
// moves to half and to twice its distance from that of P0.
[[nodiscard]] std::vector<TableVariant> variants(const CostTable& table);

// Mean power of the core relative to a running one at P0.
[[nodiscard]] double mean_power(const Replayed& run, const CoreSettings& core, const CostTable& table);

// `low` and `high`: the least and most of the variants.
struct Energy {
  double watts = 0, low = 0, high = 0;  // of one core
  double joules = 0;                    // in the time that counts
  double microjoules_per_packet = 0;    // 0 without packets
};
[[nodiscard]] Energy modelled_energy(const Replayed& run, const CoreSettings& core);

}  // namespace splitplane::power::replay

#include "power/replay/energy.h"

#include <fmt/format.h>

#include <algorithm>

namespace splitplane::power::replay {
namespace {

double price_of(const StatePrices& prices, State state) {
  switch (state) {
    case State::pause:
      return prices.pause;
    case State::tpause:
      return prices.tpause;
    case State::c1:
      return prices.c1;
    case State::c6:
      return prices.c6;
    default:  // processing, polling, system calls, waking up, and standing still for a new clock
      return prices.active;
  }
}

}  // namespace

std::vector<TableVariant> variants(const CostTable& table) {
  std::vector<TableVariant> all;
  each_price(table, [&](std::string_view name, double, std::string_view) {
    for (const double factor : {0.5, 2.0}) {
      TableVariant variant{fmt::format("{} x{}", name, factor), table};
      each_price(variant.table, [&](std::string_view other, double& value, std::string_view) {
        if (other != name) return;
        value = name == "lowest_voltage" ? std::max(0.1, 1 - (1 - value) * factor) : std::min(1.0, value * factor);
      });
      all.push_back(std::move(variant));
    }
  });
  return all;
}

double mean_power(const Replayed& run, const CoreSettings& core, const CostTable& table) {
  const Machine machine = machine_of(core);
  double sum = 0;
  for (unsigned p = 0; p < machine.p_states; ++p) {
    const StatePrices prices = table.at(static_cast<double>(machine.speed[p]));
    for (std::size_t state = 0; state < kStates; ++state)
      sum += price_of(prices, static_cast<State>(state)) * static_cast<double>(run.core.time[p][state]);
  }
  return sum / static_cast<double>(run.duration_ns);
}

Energy modelled_energy(const Replayed& run, const CoreSettings& core) {
  const double watts = core.prices.watts * mean_power(run, core, core.prices);
  Energy energy{.watts = watts, .low = watts, .high = watts};
  for (const TableVariant& variant : variants(core.prices)) {
    const double other = variant.table.watts * mean_power(run, core, variant.table);
    energy.low = std::min(energy.low, other);
    energy.high = std::max(energy.high, other);
  }
  energy.joules = watts * static_cast<double>(run.duration_ns) / 1e9;
  if (run.core.served != 0) energy.microjoules_per_packet = 1e6 * energy.joules / static_cast<double>(run.core.served);
  return energy;
}

}  // namespace splitplane::power::replay

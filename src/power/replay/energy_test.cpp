#include "power/replay/energy.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace splitplane::power::replay {
namespace {

Replayed spent(State state, unsigned p_state = 0, std::uint64_t served = 0) {
  Replayed run{.duration_ns = 2'000'000'000};
  run.core.time[p_state][static_cast<std::size_t>(state)] = run.duration_ns;
  run.core.served = served;
  return run;
}

TEST(Energy, a_core_that_polls_takes_what_one_takes_that_processes) {
  const CoreSettings core;
  EXPECT_DOUBLE_EQ(mean_power(spent(State::polling), core, core.prices), 1);
  EXPECT_DOUBLE_EQ(mean_power(spent(State::busy), core, core.prices), 1);
  const Energy energy = modelled_energy(spent(State::busy, 0, 1'000'000), core);
  EXPECT_DOUBLE_EQ(energy.watts, core.prices.watts);
  EXPECT_DOUBLE_EQ(energy.joules, 2 * core.prices.watts);
  EXPECT_DOUBLE_EQ(energy.microjoules_per_packet, 2 * core.prices.watts);
}

TEST(Energy, each_state_is_cheaper_than_the_one_before_it_at_every_clock) {
  CoreSettings core;
  core.p_states = 13;
  for (unsigned p = 0; p < core.p_states; ++p) {
    double last = 2;
    for (const State state : {State::busy, State::pause, State::tpause, State::c1, State::c6}) {
      const double power = mean_power(spent(state, p), core, core.prices);
      EXPECT_LT(power, last) << kStateNames[static_cast<std::size_t>(state)] << " at P" << p;
      last = power;
    }
  }
}

TEST(Energy, a_slower_clock_takes_less_and_never_less_than_its_leakage) {
  const CostTable table;
  EXPECT_NEAR(table.watts * table.at(0.8 / 2.2).c1, 0.88, 0.1) << "C1E of the cited table";
  EXPECT_LT(table.at(0.5).active, 0.5 * table.at(1).active);
  EXPECT_GT(table.at(0.21).active, table.at(0.21).c1);
}

TEST(Energy, the_band_has_each_price_halved_and_doubled) {
  CoreSettings core;
  EXPECT_EQ(variants(core.prices).size(), 10U);
  const Energy asleep = modelled_energy(spent(State::c6), core);
  EXPECT_DOUBLE_EQ(asleep.low, asleep.watts / 2);
  EXPECT_DOUBLE_EQ(asleep.high, asleep.watts * 2);
  const Energy awake = modelled_energy(spent(State::busy), core);
  EXPECT_DOUBLE_EQ(awake.low, awake.high) << "the unit";
  core.p_states = 2;
  const Energy slow = modelled_energy(spent(State::busy, 1), core);
  EXPECT_LT(slow.low, slow.watts);
  EXPECT_GT(slow.high, slow.watts);
}

}  // namespace
}  // namespace splitplane::power::replay

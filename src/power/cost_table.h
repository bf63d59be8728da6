// What each way to spend a core's time costs, as power relative to a running core at its highest P-state. Policies that
// minimise energy and the modelled energy of a replay read the same table. No number here is measured on the present
// machine: every one is cited or assumed, and docs/operate/power.md lists which is which.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace splitplane::power {

// Powers of one core in one P-state, relative to `active` at P0.
struct StatePrices {
  double active = 1;  // processes, polls, makes system calls, wakes up, or stands still for a new clock
  double pause = 1;   // a loop of PAUSE
  double tpause = 1;  // TPAUSE or UMWAIT
  double c1 = 1;      // halted; the clock is gated, the voltage stays
  double c6 = 1;      // power-gated
};

// The coefficients. Cited: Skylake server, table 1 of AgileWatts (MICRO 2022, arXiv 2203.02550): C0 at its nominal
// clock about 4 W, C1 1.44 W, C1E (at the lowest clock) 0.88 W, C6 about 0.1 W.
struct CostTable {
  double leakage = 0.36;              // cited: C1 of C0; what a core takes at full voltage without a clock
  double c6 = 0.025;                  // cited: C6 of C0
  double pause = 0.85;                // assumed: of an active core's dynamic part
  double tpause = 0.25;               // assumed: C0.2, of an active core's dynamic part
  double lowest_voltage = 0.7;        // assumed: at `lowest_speed`, relative to P0; linear between
  double lowest_speed = 0.21;         // assumed: of the clock at the lowest voltage (800 MHz of 3.8 GHz, paper PWR)
  double watts = 4;                   // cited: of `active` at P0; only joules need it, no choice does
  std::uint64_t deep_after_us = 600;  // cited: C6's target residency, from where silences are spent in C6

  // Prices at a speed relative to P0. Dynamic power goes with f V^2. Leakage goes with V^2 here, by which C1E comes out
  // at 0.81 W for 0.8 GHz of 2.2 GHz.
  [[nodiscard]] constexpr StatePrices at(double speed) const {
    const double volts = voltage(speed), square = volts * volts;
    const double still = leakage * square, moving = (1 - leakage) * speed * square;
    return {.active = still + moving,
            .pause = still + moving * pause,
            .tpause = still + moving * tpause,
            .c1 = still,
            .c6 = std::min(c6, still)};
  }

  [[nodiscard]] constexpr double voltage(double speed) const {
    const double part = (std::clamp(speed, lowest_speed, 1.0) - lowest_speed) / (1 - lowest_speed);
    return lowest_voltage + (1 - lowest_voltage) * part;
  }
};

// Calls visit(name, value, text) for each coefficient that scales a state, which the sensitivity band halves and
// doubles one at a time.
template <class T, class Visit>
constexpr void each_price(T& table, Visit&& visit) {
  visit("leakage", table.leakage, "C1 of an active core: AgileWatts, arXiv 2203.02550, table 1");
  visit("c6", table.c6, "C6 of an active core: the same table");
  visit("pause", table.pause, "PAUSE, of the dynamic part: assumed");
  visit("tpause", table.tpause, "TPAUSE in C0.2, of the dynamic part: assumed");
  visit("lowest_voltage", table.lowest_voltage, "voltage of the lowest clock, of that at P0: assumed");
}

}  // namespace splitplane::power

// What sleeping, waking up and pausing cost on this machine: the costs of the simulated core, measured instead of
// assumed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/expected.h"

namespace splitplane::power::calibrate {

// One of replay::Costs by its name. Without a value it stays assumed, and `how` says why.
struct Cost {
  std::string name;
  std::optional<std::uint64_t> ns;
  std::string how;
};

// What the sleeps of a thread were: asked for, and how they went.
struct Sleeps {
  std::vector<double> over_ns;  // how much longer than asked for; or from the event to the thread's first step
  double cpu_ns = 0;            // of the thread, for all of them, with the kernel's work for it
};

struct CostSettings {
  std::string root = "/sys";
  unsigned core = 0;   // where the measuring thread runs
  unsigned waker = 1;  // where the thread runs that wakes it; the same: interrupts are not measured
  unsigned sleeps = 2000;
  unsigned sleep_us = 50;
  bool timed_pause = false;  // the CPU has TPAUSE
};

// Takes about a second. Error: a thread cannot run on its core.
[[nodiscard]] Expected<std::vector<Cost>> measure_costs(const CostSettings& settings);

// The parts of it that only compute.
// system_call, c1_exit, timer_late and timer_late_mean: the simulated core uses the CPU for system_call and c1_exit at
// each sleep, and is late by c1_exit, timer_late and an exponentially distributed time.
[[nodiscard]] std::vector<Cost> costs_of_timed(const Sleeps& sleeps);
// interrupt, beside the system_call of the timed ones. The simulated core uses the CPU all that time. So it is the CPU
// time of a sleep that an event ends, less a system call; `how` says how long the event really took.
[[nodiscard]] std::vector<Cost> costs_of_woken(const Sleeps& sleeps, std::uint64_t system_call_ns);
// c6_after and c6_exit, by what the kernel's driver says of the deepest state that is allowed.
[[nodiscard]] std::vector<Cost> costs_of_deep_states(const std::string& root, unsigned core);
// The value that `share` of them do not exceed; 0 of none.
[[nodiscard]] double quantile(std::vector<double> values, double share);

// "--cost system_call=4210 --cost ...": those with a value.
[[nodiscard]] std::string cost_words(const std::vector<Cost>& costs);

}  // namespace splitplane::power::calibrate

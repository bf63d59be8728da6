// What every command that runs packets does first: DPDK as the configuration says, and the scheduling of its threads.
#pragma once

#include <string>
#include <vector>

#include "app/config.h"
#include "datapath/eal.h"

namespace splitplane::app {

// With lcores 1, 2, ... on `cores`, and the PCI devices of the configuration.
[[nodiscard]] Expected<datapath::Eal> start_eal(const Config& config, const std::vector<unsigned>& cores);

// On the loop's thread, once everything is set up: a thread of DPDK's that waits for another one with a sleep in a loop
// would keep it from the core for ever under SCHED_FIFO.
void apply_schedule(const std::string& worker, const ScheduleConfig& schedule);

}  // namespace splitplane::app

// What every command that runs packets does first: DPDK, packet buffers and ports as the configuration says, and the
// scheduling of its threads.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "engine/eal.h"
#include "engine/port.h"
#include "runtime/resources.h"

namespace splitplane::app {

// With lcores 1, 2, ... on `cores`, and the PCI devices of the configuration.
[[nodiscard]] Expected<datapath::Eal> start_eal(const Config& config, const std::vector<unsigned>& cores);

// The packet buffers of one port or card, as memory.mbufs and memory.mbuf_data_bytes say, on the NUMA node `socket`.
// `owner` says in the message whose they are: "port n3".
[[nodiscard]] Expected<Pool> make_pool(const std::string& owner, const std::string& name, const MemoryConfig& memory,
                                       int socket = SOCKET_ID_ANY);

[[nodiscard]] datapath::PortSettings port_settings(const PortConfig& config);

// On the loop's thread, once everything is set up: a thread of DPDK's that waits for another one with a sleep in a loop
// would keep it from the core for ever under SCHED_FIFO.
void apply_schedule(const std::string& worker, const ScheduleConfig& schedule);

}  // namespace splitplane::app

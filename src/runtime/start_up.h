// The first steps of every command that runs packets: DPDK, packet buffers and ports by the configuration, and the
// scheduling of its threads.
#pragma once

#include <string>
#include <vector>

#include "engine/eal.h"
#include "engine/port.h"
#include "runtime/config/config.h"
#include "runtime/config/schedule.h"
#include "runtime/resources.h"

namespace splitplane::app {

// Starts DPDK with lcores 1, 2, ... on `cores`, and the PCI devices of the configuration.
[[nodiscard]] Expected<datapath::Eal> start_eal(const ProgramConfig& config, const std::vector<unsigned>& cores);

// The packet buffers of one port or card on the NUMA node `socket`, by memory.mbufs and memory.mbuf_data_bytes. `owner`
// names it in messages: "port n3".
[[nodiscard]] Expected<Pool> make_pool(const std::string& owner, const std::string& name, const MemoryConfig& memory,
                                       int socket = SOCKET_ID_ANY);

[[nodiscard]] datapath::PortSettings port_settings(const PortConfig& config);

// On the loop's thread, after all set-up. A thread of DPDK that waits for another one in a loop of sleeps would
// otherwise keep it from the core for ever under SCHED_FIFO.
void apply_schedule(const std::string& worker, const ScheduleConfig& schedule);

}  // namespace splitplane::app

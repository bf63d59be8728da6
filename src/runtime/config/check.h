// Checks of what the file of every program says: devices and memory.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "config/finding.h"
#include "runtime/config/config.h"

namespace splitplane::app {

// What a program takes of DPDK's memory.
struct MemoryNeeds {
  std::size_t pools = 0;         // each of memory.mbufs buffers
  std::string owner;             // of the pools, for messages: "2 port(s)"
  std::size_t bearer_bytes = 0;  // tables of bearers
};
// A pool for each port. What a whole program needs says memory_needs() of its configuration's type.
[[nodiscard]] MemoryNeeds memory_of_ports(const ProgramConfig& config);

// Checks that devices are good, and that each has its own name and interface, the queues and the room for frames.
[[nodiscard]] std::optional<Finding> check_devices(const ProgramConfig& config);
// Checks that memory.megabytes hold buffers and bearers: with hugepages, or on ordinary memory, which holds fewer
// buffers.
[[nodiscard]] std::optional<Finding> check_room(const ProgramConfig& config, const MemoryNeeds& needs, bool hugepages);
// The same, with hugepages unless the file says never.
[[nodiscard]] std::optional<Finding> check_room(const ProgramConfig& config, const MemoryNeeds& needs);

}  // namespace splitplane::app

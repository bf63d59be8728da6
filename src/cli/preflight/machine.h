// What a configuration requires of this machine: interfaces, privileges, hugepages, cores, the control socket, the file
// of keys. The checks only look: they start nothing and leave nothing. Only remove_left_sockets() changes something.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/expected.h"
#include "cli/config/any_config.h"
#include "config/finding.h"

namespace splitplane::app {

// Hugepages free for DPDK, and memory available without them. The roots are parameters so that a test can build its
// own.
struct MemoryState {
  bool hugetlbfs_mounted = false;
  std::size_t free_hugepage_megabytes = 0;
  std::size_t available_megabytes = 0;
};
[[nodiscard]] MemoryState read_memory_state(const std::string& proc_root = "/proc",
                                            const std::string& sys_root = "/sys");
[[nodiscard]] std::optional<Finding> check_memory(const AnyConfig& config, const MemoryState& state);

// Removes socket files of memif servers on which no process listens: a killed run left them, and the driver would not
// start. Only the holder of the instance lock calls it. Returns what was removed.
[[nodiscard]] std::vector<std::string> remove_left_sockets(const ProgramConfig& config);

// Checks interfaces, privileges, hugepages, cores, the control socket, and that there is no second instance. It is made
// by `check`, and before a command starts anything. Error: one line with file, line and key.
[[nodiscard]] Expected<void> check_machine(const AnyConfig& config);

}  // namespace splitplane::app

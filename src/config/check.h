// The checks of a configuration as a whole: that its parts fit each other (check_references, made while loading), and
// that this machine can run it (check_machine, made by `check` and before `run` and `ue` start anything).
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/expected.h"
#include "config/config.h"

namespace splitplane::app {

struct Finding {
  std::string key;   // key path, such as workers.w0.n3
  std::string text;  // what is wrong; allowed: ...
};

// What the parts of a file say about each other: references, duplicates, queues, shards, cores, bearers.
[[nodiscard]] std::optional<Finding> check_references(const Config& config);
[[nodiscard]] std::optional<Finding> check_ports(const Config& config);
// That memory.megabytes hold buffers and bearers: with hugepages, or on ordinary memory, which holds fewer buffers.
[[nodiscard]] std::optional<Finding> check_room(const Config& config, bool hugepages);
[[nodiscard]] std::optional<Finding> check_workers(const Config& config);
// Why these two cannot be on one core; nothing if they can, or are on two.
[[nodiscard]] std::optional<std::string> refuse_shared_core(const WorkerConfig& a, const WorkerConfig& b);
[[nodiscard]] std::optional<Finding> check_bearers(const Config& config);
[[nodiscard]] std::optional<Finding> check_taps(const Config& config);
// The port of that name, or null.
[[nodiscard]] const PortConfig* find_port(const Config& config, const std::string& name);
// That there is a port of that name, which stands at `key`.
[[nodiscard]] std::optional<Finding> check_port_name(const Config& config, const std::string& key,
                                                     const std::string& name);
// The same, and that it is not in `taken`, where it is put.
[[nodiscard]] std::optional<Finding> check_port_once(const Config& config, const std::string& key,
                                                     const std::string& name, std::set<std::string>& taken);
// That `vfs`, the list at `key`, names ports once that have as many queues out as in, and no more of them than a card
// has VFs.
[[nodiscard]] std::optional<Finding> check_vf_ports(const Config& config, const std::string& key,
                                                    const std::vector<std::string>& vfs, std::set<std::string>& taken);
[[nodiscard]] std::optional<Finding> check_card(const Config& config);
[[nodiscard]] std::optional<Finding> check_cards(const Config& config);
// How many VFs the card has: the queue pairs of its VF ports.
[[nodiscard]] unsigned vf_count(const Config& config);
// What tables and registers of its program take of DPDK's memory.
[[nodiscard]] std::size_t card_bytes(const CardConfig& card);
[[nodiscard]] std::optional<Finding> check_traffic(const Config& config);

// Hugepages free for DPDK, and memory available without them. The roots are parameters so that a test can build its
// own.
struct MemoryState {
  bool hugetlbfs_mounted = false;
  std::size_t free_hugepage_megabytes = 0;
  std::size_t available_megabytes = 0;
};
[[nodiscard]] MemoryState read_memory_state(const std::string& proc_root = "/proc",
                                            const std::string& sys_root = "/sys");
[[nodiscard]] std::optional<Finding> check_memory(const Config& config, const MemoryState& state);

// Removes socket files of memif servers on which nobody listens: a killed run left them, and the driver would not
// start. For the holder of the instance lock; returns what was removed.
[[nodiscard]] std::vector<std::string> remove_left_sockets(const Config& config);

// Interfaces, privileges, hugepages, cores, control socket, a second instance. Error: one line with file, line and key.
[[nodiscard]] Expected<void> check_machine(const Config& config);

// Why no result could be written there; nothing if it could, or if `path` is empty.
[[nodiscard]] std::optional<std::string> refuse_result_path(const std::string& path);

// "<file>:<line>: <key>: <text>": the line of the key, or of the nearest key above it that the file has.
[[nodiscard]] std::string located(const Config& config, const Finding& finding);

}  // namespace splitplane::app

// Ports by name, for the parts of a configuration that name them.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/finding.h"
#include "runtime/config/config.h"

namespace splitplane::app {

inline constexpr unsigned kMaxVfs = 64;  // of one card: the P4 programs number them so

// The port of that name, or null.
[[nodiscard]] const PortConfig* find_port(const ProgramConfig& config, const std::string& name);
// Checks that there is a port of the name that stands at `key`.
[[nodiscard]] std::optional<Finding> check_port_name(const ProgramConfig& config, const std::string& key,
                                                     const std::string& name);
// The same, and that it is not in `taken`, where it is put.
[[nodiscard]] std::optional<Finding> check_port_once(const ProgramConfig& config, const std::string& key,
                                                     const std::string& name, std::set<std::string>& taken);
// Checks that `vfs`, the list at `key`, names ports once, that each has the same number of queues out as in, and that
// they are not more than a card has VFs.
[[nodiscard]] std::optional<Finding> check_vf_ports(const ProgramConfig& config, const std::string& key,
                                                    const std::vector<std::string>& vfs, std::set<std::string>& taken);

}  // namespace splitplane::app

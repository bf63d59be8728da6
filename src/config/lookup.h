// What one part of a configuration says of another: which port, card or worker stands behind a name, and whether there
// is one.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/finding.h"

namespace splitplane::app {

// The card in front of a port that is its N3 or air side; nullptr: none.
[[nodiscard]] const CardLinkConfig* card_before(const Config& config, const std::string& port);
// By name; nullptr: none.
[[nodiscard]] const CardLinkConfig* find_card(const Config& config, const std::string& name);

// Whether a dispatching worker receives for this one.
[[nodiscard]] bool is_fed(const Config& config, const WorkerConfig& worker);

// The port of that name, or null.
[[nodiscard]] const PortConfig* find_port(const Config& config, const std::string& name);
// Checks that there is a port of the name that stands at `key`.
[[nodiscard]] std::optional<Finding> check_port_name(const Config& config, const std::string& key,
                                                     const std::string& name);
// The same, and that it is not in `taken`, where it is put.
[[nodiscard]] std::optional<Finding> check_port_once(const Config& config, const std::string& key,
                                                     const std::string& name, std::set<std::string>& taken);
// Checks that `vfs`, the list at `key`, names ports once, that each has the same number of queues out as in, and that
// they are not more than a card has VFs.
[[nodiscard]] std::optional<Finding> check_vf_ports(const Config& config, const std::string& key,
                                                    const std::vector<std::string>& vfs, std::set<std::string>& taken);

}  // namespace splitplane::app

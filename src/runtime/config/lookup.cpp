#include "runtime/config/lookup.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace splitplane::app {

const PortConfig* find_port(const ProgramConfig& config, const std::string& name) {
  const auto at = std::ranges::find(config.ports, name, &PortConfig::name);
  return at == config.ports.end() ? nullptr : &*at;
}

std::optional<Finding> check_port_name(const ProgramConfig& config, const std::string& key, const std::string& name) {
  if (find_port(config, name) != nullptr) return std::nullopt;
  std::vector<std::string_view> names;
  for (const auto& port : config.ports) names.emplace_back(port.name);
  return Finding{key, fmt::format("there is no port '{}'; allowed: {}", printable(name), comma_list(names))};
}

std::optional<Finding> check_port_once(const ProgramConfig& config, const std::string& key, const std::string& name,
                                       std::set<std::string>& taken) {
  if (auto finding = check_port_name(config, key, name)) return finding;
  if (taken.insert(name).second) return std::nullopt;
  return Finding{key, fmt::format("port {} is named twice; allowed: each port once", name)};
}

std::optional<Finding> check_vf_ports(const ProgramConfig& config, const std::string& key,
                                      const std::vector<std::string>& vfs, std::set<std::string>& taken) {
  unsigned count = 0;
  for (std::size_t i = 0; i < vfs.size(); ++i) {
    const std::string entry = fmt::format("{}[{}]", key, i);
    if (auto finding = check_port_once(config, entry, vfs[i], taken)) return finding;
    const PortConfig& port = *find_port(config, vfs[i]);
    if (port.rx_queues != port.tx_queues) {
      return Finding{fmt::format("ports.{}.tx_queues", port.name),
                     fmt::format("is {}, and rx_queues is {}; allowed: as many, a VF is a pair of queues",
                                 port.tx_queues, port.rx_queues)};
    }
    count += port.rx_queues;
    if (count > kMaxVfs) {
      return Finding{entry,
                     fmt::format("makes {} VFs with those before it; allowed: at most {} a card", count, kMaxVfs)};
    }
  }
  return std::nullopt;
}

}  // namespace splitplane::app

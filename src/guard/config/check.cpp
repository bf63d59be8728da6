#include "guard/config/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "guard/config/read.h"
#include "guard/config/server_text.h"
#include "runtime/config/lookup.h"

namespace splitplane::app {
namespace {

std::optional<Finding> check_queues(const PortConfig& port, std::size_t workers) {
  for (const auto& [key, queues] : {std::pair{"rx_queues", port.rx_queues}, {"tx_queues", port.tx_queues}}) {
    if (queues == workers) continue;
    return Finding{fmt::format("ports.{}.{}", port.name, key),
                   fmt::format("is {}, and the guard has {} worker{}; allowed: {}", queues, workers,
                               workers == 1 ? "" : "s", workers)};
  }
  return std::nullopt;
}

std::optional<Finding> check_both_ports(const GuardConfig& config) {
  std::set<std::string> taken;
  if (auto finding = check_port_once(config, "guard.client", config.client, taken)) return finding;
  if (auto finding = check_port_once(config, "guard.server", config.server, taken)) return finding;
  for (const auto& port : config.ports) {
    if (!taken.contains(port.name))
      return Finding{"ports." + port.name, "is not used; allowed: the ports that guard.client and guard.server name"};
    if (auto finding = check_queues(port, config.workers.size())) return finding;
  }
  const PortConfig &client = *find_port(config, config.client), &server = *find_port(config, config.server);
  if (client.mtu == server.mtu) return std::nullopt;
  return Finding{fmt::format("ports.{}.mtu", server.name),
                 fmt::format("is {}, and that of port {} is {}; allowed: the same, since frames pass as they are",
                             server.mtu, client.name, client.mtu)};
}

std::optional<Finding> check_arming(const guard::ArmingSettings& arming) {
  if (arming.disarm_syns_per_second >= arming.arm_syns_per_second) {
    return Finding{"disarm_syns_per_second",
                   fmt::format("is {}, and arm_syns_per_second is {}; allowed: less than that",
                               arming.disarm_syns_per_second, arming.arm_syns_per_second)};
  }
  if (arming.always_syns_per_second < arming.arm_syns_per_second) {
    return Finding{"always_syns_per_second", fmt::format("is {}, and arm_syns_per_second is {}; allowed: at least that",
                                                         arming.always_syns_per_second, arming.arm_syns_per_second)};
  }
  if (arming.max_hold_seconds < arming.hold_seconds) {
    return Finding{"max_hold_seconds", fmt::format("is {}, and hold_seconds is {}; allowed: at least that",
                                                   arming.max_hold_seconds, arming.hold_seconds)};
  }
  return std::nullopt;
}

std::optional<Finding> check_servers(const GuardConfig& config) {
  const std::span<const guard::ServerRule> all(config.servers);
  if (all.size() > guard::kMaxServers) {
    return Finding{"guard.servers", fmt::format("has {} servers; allowed: at most {}", all.size(), guard::kMaxServers)};
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto finding = check_server(all[i], all.first(i));
    if (finding) return Finding{fmt::format("guard.servers[{}].{}", i, finding->key), finding->text};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Finding> check_server(const guard::ServerRule& server, std::span<const guard::ServerRule> others) {
  if (std::ranges::find(others, server.name, &guard::ServerRule::name) != others.end())
    return Finding{"name", fmt::format("'{}' is another server's; allowed: a name of its own", server.name)};
  const auto before =
      std::ranges::find_if(others, [&](const guard::ServerRule& other) { return same_place(other, server); });
  if (before != others.end()) {
    return Finding{"address", fmt::format("{} with ports {} is server {} already; allowed: each address and ports once",
                                          address_text(server), ports_text(server), before->name)};
  }
  return check_arming(server.arming);
}

std::optional<Finding> check_guard(const GuardConfig& config) {
  if (auto finding = check_devices(config)) return finding;
  if (auto finding = check_room(config, memory_needs(config))) return finding;
  if (auto finding = check_both_ports(config)) return finding;
  return check_servers(config);
}

}  // namespace splitplane::app

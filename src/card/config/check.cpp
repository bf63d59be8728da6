#include "card/config/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "runtime/config/device.h"
#include "runtime/config/lookup.h"

namespace splitplane::app {
namespace {

using Kind = WireTarget::Kind;

// The tables and registers of gnb have the size that the program says, 65,536, however many bearers are on the card:
// 20 MB by /eal/heap_info of DPDK's telemetry with lookup ue_address, 13 MB with teid.
constexpr std::size_t kProgramBytes = std::size_t{24} << 20;

// A card has one queue towards each side, which one of its cores serves.
std::optional<Finding> check_physical(const CardConfig& config, const std::string& key, const std::string& name,
                                      std::set<std::string>& taken) {
  if (name.empty()) return std::nullopt;
  if (auto finding = check_port_once(config, key, name, taken)) return finding;
  const PortConfig& port = *find_port(config, name);
  if (port.rx_queues == 1 && port.tx_queues == 1) return std::nullopt;
  return Finding{fmt::format("ports.{}.{}", name, port.rx_queues == 1 ? "tx_queues" : "rx_queues"),
                 fmt::format("is {}, and a card has one queue towards each side; allowed: 1",
                             port.rx_queues == 1 ? port.tx_queues : port.rx_queues)};
}

// DPDK 22.11's device that listens keeps its queues off for good when a host ended while it connected: what it notes
// down of the queues is not forgotten with the connection.
std::optional<Finding> check_servers(const CardConfig& config) {
  for (const auto& name : config.vfs) {
    const PortConfig* const port = find_port(config, name);
    const auto device = parse_device(port->device);
    if (!device || device->driver != Driver::kVirtioUser || device->arg("server").value_or("0") != "1") continue;
    return Finding{fmt::format("ports.{}.device", name),
                   "server=1: a card connects to its host, and connects again when the host is back; allowed: without "
                   "it, and without client=1 at the host's vhost device"};
  }
  return std::nullopt;
}

std::optional<Finding> check_punts(const CardConfig& card) {
  for (const auto& [key, name] : {std::pair{"card.punt_n3", card.punt_n3}, {"card.punt_air", card.punt_air}}) {
    if (name.empty() || std::find(card.vfs.begin(), card.vfs.end(), name) != card.vfs.end()) continue;
    return Finding{key,
                   fmt::format("'{}' is no VF of the card; allowed: {}", printable(name), fmt::join(card.vfs, ", "))};
  }
  return std::nullopt;
}

std::optional<Finding> check_target(const CardConfig& card, const std::string& key, const WireTarget& target,
                                    unsigned vfs) {
  if (target.kind == Kind::kVf && target.vf >= vfs) {
    return Finding{key, fmt::format("there is no VF {}; allowed: 0 to {}", target.vf, vfs - 1)};
  }
  const bool n3 = target.kind == Kind::kN3 && card.n3.empty();
  if (!n3 && (target.kind != Kind::kAir || !card.air.empty())) return std::nullopt;
  return Finding{key, fmt::format("the card has no port {0}; allowed: with card.{0}", n3 ? "n3" : "air")};
}

std::optional<Finding> check_wire(const CardConfig& card) {
  const unsigned vfs = vf_count(card);
  for (const auto& [side, port, target] : {std::tuple{"n3", card.n3, card.wire_n3}, {"air", card.air, card.wire_air}}) {
    if (!target) continue;
    const std::string key = fmt::format("card.wire.{}", side);
    if (port.empty()) return Finding{key, fmt::format("the card has no port {0}; allowed: with card.{0}", side)};
    if (auto finding = check_target(card, key, *target, vfs)) return finding;
  }
  if (card.wire_vfs.size() > 1 && card.wire_vfs.size() != vfs) {
    return Finding{"card.wire.vfs", fmt::format("has {} targets, and there are {} VFs; allowed: one for all, or {}",
                                                card.wire_vfs.size(), vfs, vfs)};
  }
  for (std::size_t i = 0; i < card.wire_vfs.size(); ++i) {
    const std::string key = card.wire_vfs.size() == 1 ? "card.wire.vfs" : fmt::format("card.wire.vfs[{}]", i);
    if (auto finding = check_target(card, key, card.wire_vfs[i], vfs)) return finding;
  }
  return std::nullopt;
}

}  // namespace

MemoryNeeds memory_needs(const CardConfig& card) {
  const bool gnb = card.program == CardConfig::Program::kGnb;
  // The ports share one pool.
  return {.pools = 1, .owner = "the card", .bearer_bytes = gnb ? card.cores.size() * kProgramBytes : 0};
}

std::optional<Finding> check_card(const CardConfig& card) {
  if (auto finding = check_devices(card)) return finding;
  if (auto finding = check_room(card, memory_needs(card))) return finding;
  std::set<std::string> taken;
  if (auto finding = check_physical(card, "card.n3", card.n3, taken)) return finding;
  if (auto finding = check_physical(card, "card.air", card.air, taken)) return finding;
  if (auto finding = check_vf_ports(card, "card.vfs", card.vfs, taken)) return finding;
  if (card.n3.empty() && card.air.empty())
    return Finding{"card", "has no physical port; allowed: with n3, air or both"};
  for (const auto& port : card.ports) {
    if (taken.contains(port.name)) continue;
    return Finding{"ports." + port.name, "is not used; allowed: the ports that card.n3, card.air and card.vfs name"};
  }
  if (auto finding = check_servers(card)) return finding;
  if (auto finding = check_punts(card)) return finding;
  return check_wire(card);
}

}  // namespace splitplane::app

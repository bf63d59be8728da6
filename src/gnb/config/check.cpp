#include "gnb/config/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "gnb/config/check_bearers.h"
#include "gnb/config/check_cards.h"
#include "gnb/config/check_placement.h"
#include "gnb/config/check_workers.h"
#include "gnb/config/full_mode.h"
#include "gnb/config/lookup.h"
#include "gnb/config/taps.h"
#include "ran/bearer_table.h"
#include "ran/key_table.h"

namespace splitplane::app {
namespace {

std::optional<Finding> check_dscp(const N3Config& n3, const std::string& key) {
  std::set<std::uint8_t> marked;
  for (const std::string& item : n3.dscp) {
    const auto mark = parse_dscp(item);
    if (!mark)
      return Finding{key,
                     fmt::format("'{}' is no mark; allowed: a QFI and a DSCP, each 0 to 63, as 5=46", printable(item))};
    if (!marked.insert(mark->first.value).second)
      return Finding{key, fmt::format("QFI {} is marked twice; allowed: once", mark->first.value)};
  }
  return std::nullopt;
}

std::optional<Finding> check_n3(const GnbConfig& config, std::set<std::string>& taken) {
  std::set<std::string> addresses;
  for (std::size_t i = 0; i < config.n3.size(); ++i) {
    const N3Config& n3 = config.n3[i];
    const std::string key = fmt::format("n3[{}]", i);
    if (auto finding = check_port_name(config, key + ".port", n3.port)) return finding;
    if (!taken.insert(n3.port).second) {
      return Finding{key + ".port",
                     fmt::format("port {} is used twice; allowed: one entry of n3 or air a port", n3.port)};
    }
    if (!n3.ipv4 && !n3.ipv6) return Finding{key, "has no address; allowed: ipv4, ipv6 or both"};
    if (auto finding = check_dscp(n3, key + ".dscp")) return finding;
    for (const auto& [name, own, gateway] :
         {std::tuple{"ipv4", n3.ipv4, n3.gateway_ipv4}, {"ipv6", n3.ipv6, n3.gateway_ipv6}}) {
      if (own && !addresses.insert(own->to_string()).second) {
        return Finding{fmt::format("{}.{}", key, name),
                       fmt::format("{} is the address of another n3 entry; allowed: one of its own", own->to_string())};
      }
      if (!gateway) continue;
      const std::string gateway_key = fmt::format("{}.gateway_{}", key, name);
      if (!own)
        return Finding{gateway_key, fmt::format("there is no {} address here; allowed: with {} only", name, name)};
      if (*gateway == *own) return Finding{gateway_key, "is our own address; allowed: the next hop's"};
    }
  }
  return std::nullopt;
}

std::optional<Finding> check_air(const GnbConfig& config, std::set<std::string>& taken) {
  for (std::size_t i = 0; i < config.air.size(); ++i) {
    const std::string& port = config.air[i].port;
    const std::string key = fmt::format("air[{}].port", i);
    if (auto finding = check_port_name(config, key, port)) return finding;
    if (!taken.insert(port).second) {
      return Finding{key, fmt::format("port {} is used twice; allowed: one entry of n3 or air a port", port)};
    }
  }
  return std::nullopt;
}

// Tables of keys that are not ours, in every worker that looks for bearers.
std::size_t key_table_bytes(const GnbConfig& config) {
  using Short = ran::KeyTable<ran::Ipv4Key>;
  using Long = ran::KeyTable<ran::Ipv6Key>;
  const auto holders = std::count_if(config.workers.begin(), config.workers.end(), [](const WorkerConfig& worker) {
    return worker.function == WorkerConfig::Function::kGnb || worker.function == WorkerConfig::Function::kDispatch;
  });
  std::size_t each = config.foreign_teids == 0 ? 0 : Short::bytes_needed(config.foreign_teids);
  if (config.lookup == GnbConfig::Lookup::kUeAddress) {
    each += Short::bytes_needed(config.max_bearers) + Long::bytes_needed(config.max_bearers);
  }
  return each * static_cast<std::size_t>(holders);
}

}  // namespace

MemoryNeeds memory_needs(const GnbConfig& config) {
  MemoryNeeds needs = memory_of_ports(config);
  needs.bearer_bytes = config.max_bearers * ran::kBytesPerBearer + key_table_bytes(config);
  return needs;
}

std::optional<Finding> check_gnb(const GnbConfig& config) {
  if (auto finding = check_devices(config)) return finding;
  std::set<std::string> taken;
  if (auto finding = check_n3(config, taken)) return finding;
  if (auto finding = check_air(config, taken)) return finding;
  if (auto finding = check_room(config, memory_needs(config))) return finding;
  if (auto finding = check_full_mode(config)) return finding;  // before others tell of the air port that it lacks
  if (auto finding = check_cards(config)) return finding;
  if (auto finding = check_workers(config)) return finding;
  if (auto finding = check_placement(config)) return finding;
  if (auto finding = check_taps(config)) return finding;
  return check_bearers(config);
}

}  // namespace splitplane::app

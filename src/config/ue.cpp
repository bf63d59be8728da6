#include "config/ue.h"

#include <algorithm>
#include <array>

#include "config/config.h"
#include "config/finding.h"
#include "config/lookup.h"
#include "config/yaml/path_value.h"

namespace splitplane::app {
namespace {

constexpr std::array<std::string_view, 9> kUeKeys{
    "port", "tun", "tun_mtu", "default_route", "gnb_control", "peer_mac", "core", "policy", "air"};
constexpr std::array<std::string_view, 4> kUeAirKeys{"seed", "capacity", "downlink", "uplink"};
constexpr std::uint64_t kMaxCapacity = 1 << 20;

phy::Impairments read_impairments(const YamlValue& value) {
  std::array<std::string_view, phy::kImpairments.size()> keys;
  std::transform(phy::kImpairments.begin(), phy::kImpairments.end(), keys.begin(),
                 [](const auto& row) { return row.name; });
  const YamlMap map = value.map(keys);
  phy::Impairments wanted;
  for (const auto& row : phy::kImpairments) map.read(row.name, wanted.*row.field, row.min, row.max);
  if (wanted.reorder_in_vain()) {
    map.required("reorder_percent").refuse("has nothing to overtake", "0, or with delay_us or jitter_us");
  }
  return wanted;
}

UeAirConfig read_ue_air(const YamlValue& value) {
  const YamlMap map = value.map(kUeAirKeys);
  UeAirConfig air;
  map.read("seed", air.seed, 0);
  map.read("capacity", air.capacity, 1, kMaxCapacity);
  if (const auto v = map.find("downlink")) air.downlink = read_impairments(*v);
  if (const auto v = map.find("uplink")) air.uplink = read_impairments(*v);
  return air;
}

// A packet of the TUN device with all of the air's headers must fit one frame of the air port.
std::optional<Finding> check_tun(const Config& config) {
  constexpr unsigned kAirHeaders = 8 + 5 + 3 + 1;  // airhdr, RLC AM with SO, PDCP, SDAP
  for (const auto& port : config.ports) {
    if (port.name != config.ue->port || config.ue->tun_mtu + kAirHeaders <= port.mtu) continue;
    return Finding{"ue.tun_mtu",
                   fmt::format("is {}, and does not fit port {} with {} octets of headers; allowed: at most its mtu {} "
                               "less {}",
                               config.ue->tun_mtu, port.name, kAirHeaders, port.mtu, kAirHeaders)};
  }
  return std::nullopt;
}

// What the air may hold leaves a third of the port's buffers to the port.
std::optional<Finding> check_ue_air(const Config& config) {
  const std::size_t most = config.memory.mbufs / 3;
  if (!config.ue->air || config.ue->air->capacity <= most) return std::nullopt;
  return Finding{"ue.air.capacity",
                 fmt::format("is {}, and both directions together would leave too few of memory.mbufs = "
                             "{}; allowed: at most a third, {}",
                             config.ue->air->capacity, config.memory.mbufs, most)};
}

}  // namespace

UeConfig read_ue(const YamlValue& value) {
  const YamlMap map = value.map(kUeKeys);
  UeConfig ue;
  ue.port = map.required("port").text("the name of a port");
  if (const auto v = map.find("tun")) ue.tun = v->name(15);
  map.read("tun_mtu", ue.tun_mtu, 576, 9000);
  map.read("default_route", ue.default_route);
  ue.gnb_control = read_path(map.required("gnb_control"));
  map.read("peer_mac", ue.peer_mac);
  map.read("core", ue.core, 0, 1023);
  if (const auto v = map.find("policy")) ue.policy = read_policy(*v);
  if (const auto v = map.find("air")) ue.air = read_ue_air(*v);
  return ue;
}

std::optional<Finding> check_ue(const Config& config) {
  if (auto finding = check_port_name(config, "ue.port", config.ue->port)) return finding;
  for (const auto& port : config.ports) {
    if (port.name != config.ue->port)
      return Finding{"ports." + port.name, "is not used; allowed: the port that ue.port names"};
  }
  if (auto finding = check_tun(config)) return finding;
  return check_ue_air(config);
}

}  // namespace splitplane::app

// The UE side's section of a configuration, with what the air does to its frames.
#include <algorithm>
#include <array>

#include "config/load.h"

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

}  // namespace splitplane::app

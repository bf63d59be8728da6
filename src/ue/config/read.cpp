#include "ue/config/read.h"

#include <fmt/format.h>

#include "config/yaml_fields.h"
#include "runtime/config/lookup.h"
#include "runtime/config/loop_fields.h"
#include "runtime/config/read.h"
#include "ue/config/fields.h"

namespace splitplane::app {
namespace {

constexpr unsigned kProgramKeys = kServed | kPorted;

phy::Impairments read_impairments(const YamlValue& value) {
  const YamlMap map = value.map(impairment_fields().names());
  phy::Impairments wanted;
  read_fields(map, impairment_fields(), wanted);
  if (wanted.reorder_in_vain()) {
    map.required("reorder_percent").refuse("has nothing to overtake", "0, or with delay_us or jitter_us");
  }
  return wanted;
}

UeAirConfig read_air(const YamlValue& value) {
  const YamlMap map = value.map(ue_air_fields().names());
  UeAirConfig air;
  read_fields(map, ue_air_fields(), air);
  if (const auto v = map.find("downlink")) air.downlink = read_impairments(*v);
  if (const auto v = map.find("uplink")) air.uplink = read_impairments(*v);
  return air;
}

void read_file(const YamlValue& top, UeConfig& config) {
  const YamlMap map = top.map(ue_keys());
  read_program(map, kProgramKeys, config);
  const YamlMap ue = map.required("ue").map(names_of(ue_upper_fields(), ue_fields()));
  read_fields(ue, ue_upper_fields(), config);
  read_fields(ue, ue_fields(), config);
  read_policy(ue, config.policy);
  if (const auto v = ue.find("air")) config.air = read_air(*v);
}

// A packet of the TUN device with all of the air's headers must fit one frame of the air port.
std::optional<Finding> check_tun(const UeConfig& config) {
  constexpr unsigned kAirHeaders = 10 + 5 + 3 + 1;  // airhdr, RLC AM with SO, PDCP, SDAP
  for (const auto& port : config.ports) {
    if (port.name != config.port || config.tun_mtu + kAirHeaders <= port.mtu) continue;
    return Finding{"ue.tun_mtu",
                   fmt::format("is {}, and does not fit port {} with {} octets of headers; allowed: at most its mtu {} "
                               "less {}",
                               config.tun_mtu, port.name, kAirHeaders, port.mtu, kAirHeaders)};
  }
  return std::nullopt;
}

// What the air may hold leaves a third of the port's buffers to the port.
std::optional<Finding> check_ue_air(const UeConfig& config) {
  const std::size_t most = config.memory.mbufs / 3;
  if (!config.air || config.air->capacity <= most) return std::nullopt;
  return Finding{"ue.air.capacity",
                 fmt::format("is {}, and both directions together would leave too few of memory.mbufs = "
                             "{}; allowed: at most a third, {}",
                             config.air->capacity, config.memory.mbufs, most)};
}

std::optional<Finding> check_ue(const UeConfig& config) {
  if (auto finding = check_devices(config)) return finding;
  if (auto finding = check_room(config, memory_needs(config))) return finding;
  if (auto finding = check_port_name(config, "ue.port", config.port)) return finding;
  for (const auto& port : config.ports) {
    if (port.name != config.port)
      return Finding{"ports." + port.name, "is not used; allowed: the port that ue.port names"};
  }
  if (auto finding = check_tun(config)) return finding;
  return check_ue_air(config);
}

}  // namespace

std::vector<std::string_view> ue_keys() {
  return names_of(program_fields(kProgramKeys), ue_file_fields());
}

MemoryNeeds memory_needs(const UeConfig& config) {
  return memory_of_ports(config);
}

Expected<UeConfig> read_ue(const Document& document) {
  return make_config<UeConfig>(document, read_file, check_ue);
}

}  // namespace splitplane::app

#include "traffic/config/read.h"

#include <array>

#include "config/yaml_fields.h"
#include "ran/bearer_fields.h"
#include "runtime/config/read.h"
#include "traffic/config/check.h"
#include "traffic/config/fields.h"

namespace splitplane::app {
namespace {

constexpr std::array<std::string_view, 4> kArrivals{"constant", "poisson", "bursts", "ramp"};
constexpr std::array<std::string_view, 4> kArrivalKeys{"kind", "packets", "to", "over_s"};
constexpr std::array<std::string_view, 1> kImix{"imix"};
constexpr std::size_t kMostSizes = 1000;
constexpr std::uint64_t kMostWeights = 65536;  // Mix has an entry for each

traffic::Arrivals read_arrivals(const YamlValue& value) {
  const bool plain = !value.is_map();
  const YamlMap map = plain ? YamlMap(value, {}) : value.map(kArrivalKeys);
  const std::string_view kind = kArrivals[(plain ? value : map.required("kind")).one_of(kArrivals)];
  if (kind == "bursts") {
    map.only(std::array<std::string_view, 2>{"kind", "packets"}, "does not belong to arrivals bursts");
    traffic::Bursts bursts;
    map.read("packets", bursts.packets, 1, 1'000'000);
    return bursts;
  }
  if (kind == "ramp") {
    if (plain) value.refuse("lacks its end", "{kind: ramp, to: packets a second, over_s: seconds}");
    map.only(std::array<std::string_view, 3>{"kind", "to", "over_s"}, "does not belong to arrivals ramp");
    return traffic::Ramp{.to_rate = static_cast<double>(map.required("to").integer(1, kMostRate)),
                         .over_s = static_cast<double>(map.required("over_s").integer(1, 86400))};
  }
  map.only(std::array<std::string_view, 1>{"kind"}, "does not belong to these arrivals");
  if (kind == "poisson") return traffic::Poisson{};
  return traffic::Constant{};
}

// The simple IMIX of 7 small, 4 middle and 1 large packet, in octets of the inner packet.
std::vector<GenSizeConfig> read_sizes(const YamlValue& value, bool is_list, bool is_word) {
  if (is_word) {
    (void)value.one_of(kImix);
    return {{80, 7}, {576, 4}, {1400, 1}};
  }
  if (!is_list) return {{static_cast<std::uint16_t>(value.integer(60, 9500)), 1}};
  std::vector<GenSizeConfig> sizes;
  std::uint64_t weights = 0;
  for (const auto& entry : value.list()) {
    read_fields(entry.map(gen_size_fields().names()), gen_size_fields(), sizes.emplace_back());
    weights += sizes.back().weight;
  }
  if (sizes.empty() || sizes.size() > kMostSizes) {
    value.refuse(fmt::format("has {} sizes", sizes.size()), fmt::format("1 to {}", kMostSizes));
  }
  if (weights > kMostWeights) {
    value.refuse(fmt::format("has weights that add up to {}", weights), fmt::format("at most {}", kMostWeights));
  }
  return sizes;
}

GenBearersConfig read_gen_bearers(const YamlValue& value) {
  const auto bearer_fields = ran::bearer_fields(ran::kAtGenerator);
  const YamlMap map = value.map(names_of(gen_bearers_fields(), bearer_fields));
  GenBearersConfig bearers;
  read_fields(map, gen_bearers_fields(), bearers);
  read_fields(map, bearer_fields, bearers.first);
  if (const auto wrong = ran::refuse(bearers.first)) throw Refusal{value.line(), value.key(), *wrong};
  return bearers;
}

GenConfig read_gen(const YamlValue& value) {
  const YamlMap map = value.map(gen_fields().names());
  GenConfig gen;
  read_fields(map, gen_fields(), gen);
  if (const auto v = map.find("arrivals")) gen.arrivals = read_arrivals(*v);
  if (const auto v = map.find("sizes")) gen.sizes = read_sizes(*v, v->is_list(), v->is_word());
  if (const auto v = map.find("bearers")) {
    for (const auto& entry : v->list()) gen.bearers.push_back(read_gen_bearers(entry));
  }
  return gen;
}

SinkConfig read_sink(const YamlValue& value) {
  const YamlMap map = value.map(sink_fields().names());
  SinkConfig sink;
  read_fields(map, sink_fields(), sink);
  return sink;
}

void read_file(const YamlValue& top, TrafficConfig& config) {
  const YamlMap map = top.map(traffic_keys());
  read_program(map, kPorted, config);
  if (const auto v = map.find("gen")) config.gen = read_gen(*v);
  if (const auto v = map.find("sink")) config.sink = read_sink(*v);
}

}  // namespace

std::vector<std::string_view> traffic_keys() {
  return names_of(program_fields(kPorted), traffic_fields());
}

Expected<TrafficConfig> read_traffic(const Document& document) {
  return make_config<TrafficConfig>(document, read_file, check_traffic);
}

}  // namespace splitplane::app

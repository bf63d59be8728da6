#include "config/traffic.h"

#include <algorithm>
#include <array>

#include "config/config.h"
#include "config/finding.h"
#include "config/load_gnb.h"
#include "config/lookup.h"
#include "config/yaml/path_value.h"
#include "config/yaml_fields.h"
#include "ran/bearer_fields.h"
#include "traffic/packet_maker.h"

namespace splitplane::app {
namespace {

constexpr std::array<std::string_view, 22> kGenKeys{
    "port",        "core",        "direction", "rate",        "arrivals", "sizes",        "order",    "seed",
    "packets",     "duration_s",  "late_us",   "on_refusal",  "inner",    "peer_mac",     "gnb_ipv4", "gnb_ipv6",
    "server_ipv4", "server_ipv6", "bearers",   "gnb_control", "replay",   "speed_percent"};
constexpr std::array<std::string_view, 6> kSinkKeys{"port", "core", "flows", "window", "hlog", "idle_s"};
constexpr std::array<std::string_view, 2> kDirections{"uplink", "downlink"};
constexpr std::array<std::string_view, 4> kArrivals{"constant", "poisson", "bursts", "ramp"};
constexpr std::array<std::string_view, 4> kArrivalKeys{"kind", "packets", "to", "over_s"};
constexpr std::array<std::string_view, 2> kSizeKeys{"bytes", "weight"};
constexpr std::array<std::string_view, 1> kImix{"imix"};
constexpr std::array<std::string_view, 2> kOrders{"in_turn", "random"};
constexpr std::array<std::string_view, 2> kRefusals{"retry", "give_up"};
constexpr std::array<std::string_view, 2> kFamilies{"ipv4", "ipv6"};
constexpr std::uint64_t kMostRate = 200'000'000;
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
    const YamlMap map = entry.map(kSizeKeys);
    GenSizeConfig size;
    size.bytes = static_cast<std::uint16_t>(map.required("bytes").integer(60, 9500));
    map.read("weight", size.weight, 1, 1000);
    weights += size.weight;
    sizes.push_back(size);
  }
  if (sizes.empty() || sizes.size() > kMostSizes) {
    value.refuse(fmt::format("has {} sizes", sizes.size()), fmt::format("1 to {}", kMostSizes));
  }
  if (weights > kMostWeights) {
    value.refuse(fmt::format("has weights that add up to {}", weights), fmt::format("at most {}", kMostWeights));
  }
  return sizes;
}

constexpr std::array<fields::Field, 4> kGenBearersRows{
    fields::integer<&GenBearersConfig::first, &ran::BearerConfig::id>(
        "id", 1, 0xffffffff,
        {.help = "Identity of the first bearer, which is its downlink TEID",
         .more = "`splitplane ctl bearer list` shows it.",
         .required = true}),
    fields::integer<&GenBearersConfig::count>(
        "count", 1, std::uint64_t{1} << 24,
        {.help = "How many", .special = "identities and UE addresses go up by one each"}),
    fields::integer<&GenBearersConfig::shards>("shards", 1, ran::kShards,
                                               {.help = "Spread the identities over this number of shards",
                                                .special = "256: as the gNB does with a group",
                                                .more = "Uplink: no identity stands here twice."}),
    fields::ip<&GenBearersConfig::first, &ran::BearerConfig::upf>(
        "upf", {.help = "Downlink: address that the packets come from"}),
};
constexpr fields::Fields<GenBearersConfig> kGenBearersFields(kGenBearersRows);

GenBearersConfig read_gen_bearers(const YamlValue& value) {
  const auto bearer_fields = ran::bearer_fields(ran::kAtGenerator);
  const YamlMap map = value.map(names_of(kGenBearersFields, bearer_fields));
  GenBearersConfig bearers;
  read_fields(map, kGenBearersFields, bearers);
  read_fields(map, bearer_fields, bearers.first);
  if (const auto wrong = ran::refuse(bearers.first)) throw Refusal{value.line(), value.key(), *wrong};
  return bearers;
}

std::optional<Finding> check_sizes(const Config& config, const GenConfig& gen) {
  const bool down = gen.direction == Direction::kDownlink;
  const bool outer_ipv6 = gen.gnb_ipv6.has_value();
  // Behind the Ethernet header: IP, UDP and GTP-U with a PSC, or airhdr, RLC, PDCP and SDAP.
  const unsigned headers = !down ? 8 + 7 : (outer_ipv6 ? 40 : 20) + 8 + 16;
  const PortConfig& port = *find_port(config, gen.port);
  for (const auto& size : gen.sizes) {
    const unsigned least = traffic::smallest_inner(gen.inner_ipv6);
    if (size.bytes >= least && size.bytes + headers <= port.mtu) continue;
    return Finding{
        "gen.sizes",
        fmt::format("has {} octets; allowed: {} to {} (headers and stamp, and the MTU of port {} less {} "
                    "octets of headers)",
                    size.bytes, least, port.mtu - std::min<unsigned>(headers, port.mtu), port.name, headers)};
  }
  return std::nullopt;
}

std::optional<Finding> check_bearer(const GenConfig& gen, const GenBearersConfig& bearers, const std::string& key) {
  const ran::BearerConfig last = bearer_at(bearers, bearers.count - 1);
  const std::uint64_t end = std::uint64_t{bearers.first.id.value} + (bearers.count - 1) / bearers.shards +
                            ((std::uint64_t{std::min(bearers.shards, bearers.count)} - 1) << ran::kIndexBits);
  if (end > 0xffffffff || last.id.value < bearers.first.id.value) {
    return Finding{key + ".count", fmt::format("{} identities run past the last one; allowed: fewer", bearers.count)};
  }
  if (!(gen.inner_ipv6 ? bearers.first.ue_ipv6 : bearers.first.ue_ipv4)) {
    const char* family = gen.inner_ipv6 ? "ipv6" : "ipv4";
    return Finding{key, fmt::format("has no UE address; allowed: with ue_{}, since gen.inner is {}", family, family)};
  }
  if (gen.direction == Direction::kUplink) return std::nullopt;
  if (bearers.first.upf == IpAddress{}) {
    return Finding{key, "does not say from which UPF the packets come; allowed: with upf"};
  }
  const bool v6 = bearers.first.upf.is_v6();
  if (v6 ? gen.gnb_ipv6 : gen.gnb_ipv4) return std::nullopt;
  return Finding{key + ".upf", fmt::format("is {}, and the gNB's address of that family is not given; allowed: with "
                                           "gen.gnb_{}",
                                           bearers.first.upf.to_string(), v6 ? "ipv6" : "ipv4")};
}

// Two flows of one bearer would both number its uplink. On N3 they may: there the gNB numbers.
std::optional<Finding> check_overlap(const GenConfig& gen) {
  struct Range {
    std::uint64_t first, end;
    std::size_t entry;
  };
  std::vector<Range> ranges;
  for (std::size_t i = 0; i < gen.bearers.size(); ++i) {
    const GenBearersConfig& b = gen.bearers[i];
    for (std::uint32_t shard = 0; shard < std::min(b.shards, b.count); ++shard) {
      const std::uint64_t first = b.first.id.value + (std::uint64_t{shard} << ran::kIndexBits);
      ranges.push_back({first, first + (b.count - 1 - shard) / b.shards + 1, i});
    }
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.first < b.first; });
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    const Range &before = ranges[i - 1], &range = ranges[i];
    if (range.first >= before.end) continue;
    return Finding{
        fmt::format("gen.bearers[{}]", std::max(before.entry, range.entry)),
        fmt::format("has the bearer {:#010x}, which is in gen.bearers[{}] already; allowed: each once, as its "
                    "uplink has one sequence of numbers",
                    range.first, std::min(before.entry, range.entry))};
  }
  return std::nullopt;
}

std::optional<Finding> check_gen(const Config& config, const GenConfig& gen) {
  if (auto finding = check_port_name(config, "gen.port", gen.port)) return finding;
  if (!gen.replay.empty()) {
    if (!gen.bearers.empty() || !gen.gnb_control.empty()) {
      return Finding{"gen.replay", "stands beside bearers or gnb_control; allowed: a replay or bearers"};
    }
    return std::nullopt;
  }
  if (gen.rate == 0) return Finding{"gen", "has no rate; allowed: with rate, in packets a second"};
  if (gen.bearers.empty() && gen.gnb_control.empty()) {
    return Finding{"gen", "has no bearers; allowed: with bearers, gnb_control or replay"};
  }
  if (auto finding = check_sizes(config, gen)) return finding;
  for (std::size_t i = 0; i < gen.bearers.size(); ++i) {
    if (auto finding = check_bearer(gen, gen.bearers[i], fmt::format("gen.bearers[{}]", i))) return finding;
  }
  return gen.direction == Direction::kUplink ? check_overlap(gen) : std::nullopt;
}

}  // namespace

fields::Section gen_bearers_section() {
  return {"gen_bearers", fields::keys_of(kGenBearersFields) + fields::keys_of(ran::bearer_fields(ran::kAtGenerator))};
}

GenConfig read_gen(const YamlValue& value) {
  const YamlMap map = value.map(kGenKeys);
  GenConfig gen;
  gen.port = map.required("port").text("the name of a port");
  map.read("core", gen.core, 0, 1023);
  if (const auto v = map.find("direction")) gen.direction = static_cast<Direction>(v->one_of(kDirections));
  map.read("rate", gen.rate, 1, kMostRate);
  if (const auto v = map.find("arrivals")) gen.arrivals = read_arrivals(*v);
  if (const auto v = map.find("sizes")) gen.sizes = read_sizes(*v, v->is_list(), v->is_word());
  if (const auto v = map.find("order")) gen.order = static_cast<traffic::Mix::Order>(v->one_of(kOrders));
  map.read("seed", gen.seed, 0);
  map.read("packets", gen.packets, 1);
  map.read("duration_s", gen.duration_s, 1, 1'000'000);
  map.read("late_us", gen.late_us, 1, 10'000'000);
  if (const auto v = map.find("on_refusal")) gen.retry = v->one_of(kRefusals) == 0;
  if (const auto v = map.find("inner")) gen.inner_ipv6 = v->one_of(kFamilies) == 1;
  map.read("peer_mac", gen.peer_mac);
  if (const auto v = map.find("gnb_ipv4")) gen.gnb_ipv4 = v->ipv4();
  if (const auto v = map.find("gnb_ipv6")) gen.gnb_ipv6 = v->ipv6();
  if (const auto v = map.find("server_ipv4")) gen.server_ipv4 = v->ipv4();
  if (const auto v = map.find("server_ipv6")) gen.server_ipv6 = v->ipv6();
  if (const auto v = map.find("bearers")) {
    for (const auto& entry : v->list()) gen.bearers.push_back(read_gen_bearers(entry));
  }
  if (const auto v = map.find("gnb_control")) gen.gnb_control = read_path(*v);
  if (const auto v = map.find("replay")) gen.replay = v->text("the path of a capture");
  map.read("speed_percent", gen.speed_percent, 1, 100'000);
  return gen;
}

SinkConfig read_sink(const YamlValue& value) {
  const YamlMap map = value.map(kSinkKeys);
  SinkConfig sink;
  sink.port = map.required("port").text("the name of a port");
  map.read("core", sink.core, 0, 1023);
  map.read("flows", sink.flows, 1, std::uint64_t{1} << 24);
  if (const auto v = map.find("window")) {
    sink.window = static_cast<std::uint32_t>(v->integer(64, 65536));
    if ((sink.window & (sink.window - 1)) != 0) v->refuse(fmt::format("is {}", sink.window), "a power of two");
  }
  if (const auto v = map.find("hlog")) sink.hlog = v->text("the path of a file to write");
  map.read("idle_s", sink.idle_s, 1, 86400);
  return sink;
}

ran::BearerConfig bearer_at(const GenBearersConfig& bearers, std::uint32_t i) {
  ran::BearerConfig bearer = bearers.first;
  bearer.id.value += ((i % bearers.shards) << ran::kIndexBits) + i / bearers.shards;
  if (bearer.ue_ipv4) bearer.ue_ipv4 = bearer.ue_ipv4->plus(i);
  if (bearer.ue_ipv6) bearer.ue_ipv6 = bearer.ue_ipv6->plus(i);
  return bearer;
}

std::optional<Finding> check_traffic(const Config& config) {
  if (config.gen) {
    if (auto finding = check_gen(config, *config.gen)) return finding;
  }
  if (config.sink) {
    if (auto finding = check_port_name(config, "sink.port", config.sink->port)) return finding;
  }
  for (const auto& port : config.ports) {
    const bool used = (config.gen && config.gen->port == port.name) || (config.sink && config.sink->port == port.name);
    if (!used) {
      return Finding{"ports." + port.name, "is not used; allowed: the ports that gen.port and sink.port name"};
    }
  }
  return std::nullopt;
}

}  // namespace splitplane::app

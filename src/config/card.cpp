#include "config/card.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "card/affinity.h"
#include "config/config.h"
#include "config/device.h"
#include "config/finding.h"
#include "config/lookup.h"
#include "config/yaml/path_value.h"

namespace splitplane::app {
namespace {

using Program = CardConfig::Program;

constexpr unsigned bit(Program program) {
  return 1U << static_cast<unsigned>(program);
}
constexpr unsigned kGnb = bit(Program::kGnb), kP4wire = bit(Program::kP4wire);
constexpr unsigned kAny = kGnb | kP4wire | bit(Program::kL2fwd);

struct CardKey {
  std::string_view name;
  unsigned programs;  // that have it
};
constexpr CardKey kKeys[]{
    {"name", kAny},     {"program", kAny},  {"features", kGnb}, {"lookup", kGnb},      {"marks", kGnb},
    {"specs", kAny},    {"core", kAny},     {"cores", kAny},    {"numa", kAny},        {"policy", kAny},
    {"schedule", kAny}, {"n3", kAny},       {"air", kAny},      {"vfs", kAny},         {"fifo_priority", kAny},
    {"punt_n3", kGnb},  {"punt_air", kGnb}, {"wire", kP4wire},  {"max_bearers", kGnb}, {"verify_udp_checksum", kGnb}};
constexpr std::array<std::string_view, 3> kPrograms{"gnb", "l2fwd", "p4wire"};  // as in CardConfig
// As in datapath::FeatureSet, without l2fwd: on a card that is a program of its own.
constexpr std::array<std::string_view, 6> kFeatures{"drop", "decap", "headers", "mat", "clone_drop", "clone"};
constexpr std::array<std::string_view, 2> kLookups{"teid", "ue_address"};  // as in CardConfig
constexpr std::array<std::string_view, 3> kWireKeys{"n3", "air", "vfs"};

// Those of any of the programs.
std::vector<std::string_view> keys_of(unsigned programs) {
  std::vector<std::string_view> names;
  for (const CardKey& key : kKeys) {
    if ((key.programs & programs) != 0) names.push_back(key.name);
  }
  return names;
}

std::string port_name(const YamlValue& value) {
  return value.text("the name of a port");
}

std::vector<std::string> read_vfs(const YamlValue& value) {
  std::vector<std::string> names;
  for (const auto& item : value.list()) names.push_back(port_name(item));
  if (names.empty())
    value.refuse("is empty", fmt::format("the ports whose queues are the VFs, 1 to {} in all", kMaxVfs));
  return names;
}

// n3, air, spread, or the number of a VF.
WireTarget read_target(const YamlValue& value, bool spread) {
  constexpr std::array<std::string_view, 3> kWords{"n3", "air", "spread"};
  if (!value.is_word()) return {WireTarget::Kind::kVf, static_cast<unsigned>(value.integer(0, kMaxVfs - 1))};
  switch (value.one_of(Keys(kWords).first(spread ? 3 : 2))) {
    case 0:
      return {WireTarget::Kind::kN3};
    case 1:
      return {WireTarget::Kind::kAir};
    default:
      return {WireTarget::Kind::kSpread};
  }
}

// Of all queues of the VFs' ports; what `vfs` names wrongly is found later.
unsigned queues_of(const std::vector<std::string>& vfs, const std::vector<PortConfig>& ports) {
  unsigned queues = 0;
  for (const PortConfig& port : ports) queues += std::ranges::count(vfs, port.name) != 0 ? port.rx_queues : 0;
  return queues;
}

void read_wire(const YamlValue& value, CardConfig& card, const std::vector<PortConfig>& ports) {
  const YamlMap map = value.map(kWireKeys);
  if (const auto v = map.find("n3")) card.wire_n3 = read_target(*v, true);
  if (const auto v = map.find("air")) card.wire_air = read_target(*v, true);
  const auto vfs = map.find("vfs");
  if (!vfs && !card.wire_n3 && !card.wire_air) value.refuse("is empty", "n3, air, vfs: without a wire all is dropped");
  if (!vfs) return;
  if (!vfs->is_list()) {
    card.wire_vfs.push_back(read_target(*vfs, false));
    return;
  }
  for (const auto& item : vfs->list()) card.wire_vfs.push_back(read_target(item, false));
  if (card.wire_vfs.empty()) vfs->refuse("is empty", "one target for all VFs, or one for each");
  // From here on, a list of one is one for all.
  if (const unsigned queues = queues_of(card.vfs, ports); card.wire_vfs.size() == 1 && queues > 1) {
    vfs->refuse(fmt::format("has 1 target, and there are {} VFs", queues),
                fmt::format("one for all, which is no list, or {}", queues));
  }
}

// One core or several.
void read_cores(const YamlMap& map, CardConfig& card) {
  map.read("core", card.cores.front(), 0, 1023);
  const auto cores = map.find("cores");
  if (!cores) return;
  if (map.find("core")) cores->refuse("stands beside core", "one of the two");
  card.cores.clear();
  for (const auto& item : cores->list()) {
    const auto core = static_cast<unsigned>(item.integer(0, 1023));
    if (std::ranges::count(card.cores, core) != 0) item.refuse(fmt::format("is core {} again", core), "each core once");
    card.cores.push_back(core);
  }
  if (card.cores.empty() || card.cores.size() > nic::kMaxCardCores)
    cores->refuse(fmt::format("has {} cores", card.cores.size()), fmt::format("1 to {}", nic::kMaxCardCores));
}

// A frame alone must say which core serves its bearer.
void check_cores(const YamlMap& map, const CardConfig& card) {
  if (card.cores.size() == 1) return;
  const YamlValue cores = map.required("cores");
  if (card.lookup != CardConfig::Lookup::kTeid)
    cores.refuse("has several cores, and lookup is ue_address", "one core, or lookup: teid");
  if (card.features == datapath::FeatureSet::decap || card.features == datapath::FeatureSet::headers) {
    cores.refuse(fmt::format("has several cores, and features {} have one bearer for all packets",
                             datapath::name_of(card.features)),
                 "one core, or features drop, mat, clone_drop, clone");
  }
}

void read_gnb(const YamlMap& map, CardConfig& card) {
  if (const auto v = map.find("features")) {
    const auto at = std::ranges::find(datapath::kFeatureSetNames, kFeatures[v->one_of(kFeatures)]);
    card.features = static_cast<datapath::FeatureSet>(at - datapath::kFeatureSetNames.begin());
  }
  if (const auto v = map.find("lookup")) card.lookup = static_cast<CardConfig::Lookup>(v->one_of(kLookups));
  const bool clone = card.features == datapath::FeatureSet::clone;
  if (card.lookup == CardConfig::Lookup::kUeAddress && !clone)
    map.required("lookup").refuse("is ue_address with other features than clone", "with features: clone");
  if (const auto v = map.find("marks")) {
    card.marks = static_cast<unsigned>(v->integer(0, kMarkCount));
    if (!clone || card.lookup != CardConfig::Lookup::kTeid)
      v->refuse("stands at a card of another kind", "with features: clone and lookup: teid");
  }
  if (const auto v = map.find("punt_n3")) card.punt_n3 = port_name(*v);
  if (const auto v = map.find("punt_air")) card.punt_air = port_name(*v);
  map.read("verify_udp_checksum", card.verify_udp_checksum);
  map.read("max_bearers", card.max_bearers, 1, 65536);
}

using Kind = WireTarget::Kind;

// The tables and registers of gnb have the size that the program says, 65,536, however many bearers are on the card:
// 20 MB by /eal/heap_info of DPDK's telemetry with lookup ue_address, 13 MB with teid.
constexpr std::size_t kProgramBytes = std::size_t{24} << 20;

// A card has one queue towards each side, which one of its cores serves.
std::optional<Finding> check_physical(const Config& config, const std::string& key, const std::string& name,
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
std::optional<Finding> check_servers(const Config& config) {
  for (const auto& name : config.card->vfs) {
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

std::optional<Finding> check_wire(const Config& config) {
  const CardConfig& card = *config.card;
  const unsigned vfs = vf_count(config);
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

CardConfig read_card(const YamlValue& value, const std::vector<PortConfig>& ports) {
  const YamlMap map = value.map(keys_of(kAny));
  CardConfig card;
  const std::size_t program = map.required("program").one_of(kPrograms);
  card.program = static_cast<Program>(program);
  map.only(keys_of(bit(card.program)), fmt::format("does not belong to program {}", kPrograms[program]));
  if (const auto v = map.find("name")) card.name = v->name(20);
  if (const auto v = map.find("specs")) card.specs = read_directory(*v);
  read_cores(map, card);
  if (const auto v = map.find("numa")) card.numa = static_cast<unsigned>(v->integer(0, kMaxNumaNode));
  if (const auto v = map.find("policy")) card.policy = read_policy(*v);
  read_schedule(map, card.schedule);
  if (const auto v = map.find("n3")) card.n3 = port_name(*v);
  if (const auto v = map.find("air")) card.air = port_name(*v);
  if (const auto v = map.find("vfs")) card.vfs = read_vfs(*v);
  if (card.program == Program::kGnb) {
    for (const char* key : {"n3", "air", "vfs"}) (void)map.required(key);
    read_gnb(map, card);
    check_cores(map, card);
  }
  if (card.program == Program::kP4wire) {
    (void)map.required("vfs");
    read_wire(map.required("wire"), card, ports);
  }
  return card;
}

std::string spec_name(const CardConfig& card) {
  if (card.program != Program::kGnb) return std::string(kPrograms[static_cast<std::size_t>(card.program)]);
  const char* variant = card.marks ? "-marker" : card.lookup == CardConfig::Lookup::kUeAddress ? "-ue" : "";
  return fmt::format("gnb-{}{}", datapath::name_of(card.features), variant);
}

unsigned vf_count(const Config& config) {
  unsigned count = 0;
  for (const auto& name : config.card->vfs) {
    if (const PortConfig* port = find_port(config, name)) count += port->rx_queues;
  }
  return count;
}

std::size_t card_bytes(const CardConfig& card) {
  return card.program == CardConfig::Program::kGnb ? card.cores.size() * kProgramBytes : 0;
}

std::optional<Finding> check_card(const Config& config) {
  const CardConfig& card = *config.card;
  std::set<std::string> taken;
  if (auto finding = check_physical(config, "card.n3", card.n3, taken)) return finding;
  if (auto finding = check_physical(config, "card.air", card.air, taken)) return finding;
  if (auto finding = check_vf_ports(config, "card.vfs", card.vfs, taken)) return finding;
  if (card.n3.empty() && card.air.empty())
    return Finding{"card", "has no physical port; allowed: with n3, air or both"};
  for (const auto& port : config.ports) {
    if (taken.contains(port.name)) continue;
    return Finding{"ports." + port.name, "is not used; allowed: the ports that card.n3, card.air and card.vfs name"};
  }
  if (auto finding = check_servers(config)) return finding;
  if (auto finding = check_punts(card)) return finding;
  return check_wire(config);
}

}  // namespace splitplane::app

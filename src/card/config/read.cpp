#include "card/config/read.h"

#include <algorithm>
#include <array>

#include "card/affinity.h"
#include "card/config/check.h"
#include "card/config/fields.h"
#include "config/yaml_fields.h"
#include "runtime/config/lookup.h"
#include "runtime/config/loop_fields.h"
#include "runtime/config/read.h"

namespace splitplane::app {
namespace {

using Program = CardConfig::Program;

constexpr unsigned kProgramKeys = kServed | kObserved | kPorted;
constexpr std::array<std::string_view, 3> kWireKeys{"n3", "air", "vfs"};

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

void read_wire(const YamlValue& value, CardConfig& card) {
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
  // From here on, a list of one is one for all. What `vfs` names wrongly is found later.
  if (const unsigned queues = vf_count(card); card.wire_vfs.size() == 1 && queues > 1) {
    vfs->refuse(fmt::format("has 1 target, and there are {} VFs", queues),
                fmt::format("one for all, which is no list, or {}", queues));
  }
}

// One core or several.
void read_cores(const YamlMap& map, CardConfig& card) {
  map.read("core", card.cores.front(), 0, kMaxCore);
  const auto cores = map.find("cores");
  if (!cores) return;
  if (map.find("core")) cores->refuse("stands beside core", "one of the two");
  card.cores.clear();
  for (const auto& item : cores->list()) {
    const auto core = static_cast<unsigned>(item.integer(0, kMaxCore));
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

// What the keys of program gnb say of each other.
void check_gnb_keys(const YamlMap& map, const CardConfig& card) {
  for (const char* key : {"n3", "air", "vfs"}) (void)map.required(key);
  const bool clone = card.features == datapath::FeatureSet::clone;
  if (card.lookup == CardConfig::Lookup::kUeAddress && !clone)
    map.required("lookup").refuse("is ue_address with other features than clone", "with features: clone");
  if (card.marks && (!clone || card.lookup != CardConfig::Lookup::kTeid))
    map.required("marks").refuse("stands at a card of another kind", "with features: clone and lookup: teid");
  if (card.spread != nic::VfSpread::kBearer && (!clone || card.lookup != CardConfig::Lookup::kTeid)) {
    map.required("spread").refuse(
        fmt::format("is {} at a card of another kind", nic::kVfSpreadNames[static_cast<std::size_t>(card.spread)]),
        "bearer, or with features: clone and lookup: teid");
  }
  check_cores(map, card);
}

void read_section(const YamlValue& value, CardConfig& card) {
  const YamlMap map = value.map(card_fields().names());
  const std::size_t program = map.required("program").one_of(kProgramNames);
  const auto rows = card_fields().where(bit(static_cast<Program>(program)));
  map.only(rows.names(), fmt::format("does not belong to program {}", kProgramNames[program]));
  read_cores(map, card);
  read_fields(map, rows, card);
  read_policy(map, card.policy);
  check_schedule(map, card.schedule);
  if (card.program == Program::kGnb) check_gnb_keys(map, card);
  if (card.program == Program::kP4wire) {
    (void)map.required("vfs");
    read_wire(map.required("wire"), card);
  }
}

void read_file(const YamlValue& top, CardConfig& card) {
  const YamlMap map = top.map(card_keys());
  read_program(map, kProgramKeys, card);
  read_section(map.required("card"), card);
}

}  // namespace

std::vector<std::string_view> card_keys() {
  return names_of(program_fields(kProgramKeys), card_file_fields());
}

Expected<CardConfig> read_card(const Document& document) {
  return make_config<CardConfig>(document, read_file, check_card);
}

}  // namespace splitplane::app

#include "cli/config/any_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "card/config/read.h"
#include "gnb/config/read.h"
#include "guard/config/read.h"
#include "phy/config/read.h"
#include "traffic/config/read.h"
#include "ue/config/read.h"

namespace splitplane::app {
namespace {

template <auto Read>
Expected<AnyConfig> read_as(const Document& document) {
  return Read(document).map([](auto&& config) { return AnyConfig(std::forward<decltype(config)>(config)); });
}

struct Program {
  const char* commands;
  std::array<std::string_view, 2> sections;  // one of them in a file: it is for this program
  std::vector<std::string_view> (*keys)();
  Expected<AnyConfig> (*read)(const Document& document);
};
constexpr std::array<Program, 6> kPrograms{{
    {"`splitplane phy`", {"phy", "phy"}, phy_keys, read_as<read_phy>},  // before `ue`, which its file has, too
    {"`splitplane ue`", {"ue", "ue"}, ue_keys, read_as<read_ue>},
    {"`splitplane card`", {"card", "card"}, card_keys, read_as<read_card>},
    {"`splitplane guard`", {"guard", "guard"}, guard_keys, read_as<read_guard>},
    {"`splitplane gen` or `splitplane sink`", {"gen", "sink"}, traffic_keys, read_as<read_traffic>},
    {"`splitplane run`", {"workers", "workers"}, gnb_keys, read_as<read_gnb>},
}};

const Program& program_of(const Document& document) {
  for (const Program& program : kPrograms) {
    if (document.has(program.sections[0]) || document.has(program.sections[1])) return program;
  }
  return kPrograms.back();
}

// Refuses keys that no program knows, and keys of other programs. Throws Refusal.
void check_keys(const YamlValue& top, const Program& program) {
  std::vector<std::string_view> all = gnb_keys();  // first, since most files are for it
  for (const Program& each : kPrograms) {
    for (const auto key : each.keys()) {
      if (std::ranges::count(all, key) == 0) all.push_back(key);
    }
  }
  top.map(all).only(program.keys(), fmt::format("does not belong in a file for {}", program.commands));
}

Expected<AnyConfig> read_any(const Document& document) {
  const Program& program = program_of(document);
  Source source;
  return document.read(source, [&](const YamlValue& top) { check_keys(top, program); }).and_then([&] {
    return program.read(document);
  });
}

}  // namespace

Expected<AnyConfig> load_any(const std::string& path) {
  return Document::load(path).and_then(read_any);
}

Expected<AnyConfig> parse_any(const std::string& text, const std::string& file) {
  return Document::parse(text, file).and_then(read_any);
}

const ProgramConfig& shared_part(const AnyConfig& config) {
  return std::visit([](const ProgramConfig& part) -> const ProgramConfig& { return part; }, config);
}

const char* command_of(const AnyConfig& config) {
  if (std::holds_alternative<UeConfig>(config)) return "ue";
  if (std::holds_alternative<PhyProgramConfig>(config)) return "phy";
  if (std::holds_alternative<CardConfig>(config)) return "card";
  if (std::holds_alternative<GuardConfig>(config)) return "guard";
  const auto* traffic = std::get_if<TrafficConfig>(&config);
  if (traffic == nullptr) return "run";
  return traffic->gen ? "gen" : "sink";
}

}  // namespace splitplane::app

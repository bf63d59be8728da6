#include "power/profiles/profile_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "config/document.h"

namespace splitplane::app {
namespace {

using power::model::Fit;
using power::model::Profile;
using power::model::PStates;
using power::model::Range;
using power::model::Volts;

constexpr double kMostWatts = 100'000, kMostMhz = 20'000, kMostVolts = 5;
constexpr std::size_t kMostPoints = 64;
constexpr std::array<std::string_view, 2> kScopes{"system", "package"};
constexpr std::array<std::string_view, 17> kProfileKeys{
    "name",         "machine",      "citation", "note",     "scope",
    "base_watts",   "active_watts", "c1_watts", "c6_watts", "first_core_watts",
    "tpause_watts", "pause_share",  "p_states", "fit",      "second_thread_watts",
    "range",        "assumed"};
constexpr std::array<std::string_view, 3> kPStatesKeys{"nominal_mhz", "leakage_watts", "volts"};
constexpr std::array<std::string_view, 2> kVoltsKeys{"mhz", "volts"};
constexpr std::array<std::string_view, 4> kFitKeys{"rmse_watts", "max_watts", "points", "parameters"};
constexpr std::array<std::string_view, 3> kRangeKeys{"packages", "cores", "threads_per_core"};

void read_text(const YamlMap& map, std::string_view key, std::string& into) {
  if (const auto value = map.find(key)) into = value->text("a text");
}

PStates read_p_states(const YamlValue& value, double active_watts) {
  const YamlMap map = value.map(kPStatesKeys);
  PStates p{.nominal_mhz = map.required("nominal_mhz").number(1, kMostMhz)};
  map.read("leakage_watts", p.leakage_watts, 0, active_watts);
  const YamlValue list = map.required("volts");
  for (const YamlValue& entry : list.list()) {
    const YamlMap point = entry.map(kVoltsKeys);
    const double after = p.volts.empty() ? 1 : p.volts.back().mhz;
    p.volts.push_back(
        {.mhz = point.required("mhz").number(1, kMostMhz), .volts = point.required("volts").number(0.1, kMostVolts)});
    if (p.volts.size() > 1 && p.volts.back().mhz <= after)
      point.required("mhz").refuse("is not above the one before", fmt::format("more than {} MHz", after));
  }
  if (p.volts.size() < 2 || p.volts.size() > kMostPoints)
    list.refuse(fmt::format("has {} entries", p.volts.size()), fmt::format("2 to {} of them", kMostPoints));
  if (p.nominal_mhz < p.volts.front().mhz || p.nominal_mhz > p.volts.back().mhz)
    map.required("nominal_mhz")
        .refuse("is outside of volts", fmt::format("{} to {}", p.volts.front().mhz, p.volts.back().mhz));
  return p;
}

Fit read_fit(const YamlValue& value) {
  const YamlMap map = value.map(kFitKeys);
  Fit fit{.rmse_watts = map.required("rmse_watts").number(0, kMostWatts),
          .max_watts = map.required("max_watts").number(0, kMostWatts),
          .points = static_cast<unsigned>(map.required("points").integer(1, 1'000'000))};
  map.read("parameters", fit.parameters, 1U, 1000U);
  return fit;
}

Range read_range(const YamlValue& value) {
  const YamlMap map = value.map(kRangeKeys);
  Range range;
  map.read("packages", range.packages, 1U, 64U);
  range.cores = static_cast<unsigned>(map.required("cores").integer(1, 1024));
  map.read("threads_per_core", range.threads_per_core, 1U, 2U);
  return range;
}

// An assumption about a coefficient that the profile does not have is a slip of the pen.
void read_assumed(const YamlValue& value, Profile& profile) {
  std::vector<std::string> known;
  power::model::each_coefficient(profile, [&](const char* name, double number) {
    if (!std::isnan(number)) known.emplace_back(name);
  });
  if (profile.p_states) known.emplace_back("volts");
  const std::vector<std::string_view> names(known.begin(), known.end());
  for (const YamlValue& entry : value.list()) {
    const std::string name = entry.text("the name of a coefficient");
    if (std::find(known.begin(), known.end(), name) == known.end())
      entry.refuse(fmt::format("'{}' is no coefficient of this profile", printable(name)), comma_list(names));
    profile.assumed.insert(name);
  }
}

void read_profile(const YamlValue& top, Profile& profile) {
  const YamlMap map = top.map(kProfileKeys);
  profile.name = map.required("name").name(32);
  read_text(map, "machine", profile.machine);
  profile.citation = map.required("citation").text("where the coefficients come from, as a text");
  read_text(map, "note", profile.note);
  if (const auto scope = map.find("scope")) profile.scope = kScopes[scope->one_of(kScopes)];
  static_cast<void>(map.required("base_watts"));
  static_cast<void>(map.required("active_watts"));
  power::model::each_coefficient(profile, [&](const char* name, double& value) {
    map.read(name, value, 0, std::string_view(name) == "pause_share" ? 1 : kMostWatts);
  });
  if (const auto p_states = map.find("p_states")) profile.p_states = read_p_states(*p_states, profile.active_watts);
  if (const auto fit = map.find("fit")) profile.fit = read_fit(*fit);
  profile.range = read_range(map.required("range"));
  if (const auto assumed = map.find("assumed")) read_assumed(*assumed, profile);
}

Expected<Profile> profile_of(const Expected<Document>& document) {
  if (!document) return tl::unexpected(document.error());
  Profile profile;
  Source source;
  const auto good = document->read(source, [&](const YamlValue& top) { read_profile(top, profile); });
  if (!good) return tl::unexpected(good.error());
  return profile;
}

// A JSON string is a YAML one.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Expected<Profile> load_profile(const std::string& path) {
  return profile_of(Document::load(path));
}

Expected<Profile> parse_profile(std::string text, const std::string& file) {
  return profile_of(Document::parse(std::move(text), file));
}

std::string profile_text(const Profile& profile) {
  std::string text = fmt::format("name: {}\nmachine: {}\ncitation: {}\n", profile.name, quoted(profile.machine),
                                 quoted(profile.citation));
  if (!profile.note.empty()) text += fmt::format("note: {}\n", quoted(profile.note));
  text += fmt::format("scope: {}\n", profile.scope);
  power::model::each_coefficient(profile, [&](const std::string& name, double value) {
    if (!std::isnan(value) && name != "leakage_watts") text += fmt::format("{}: {:.6g}\n", name, value);
  });
  if (profile.p_states) {
    text += fmt::format("p_states:\n  nominal_mhz: {:.6g}\n  leakage_watts: {:.6g}\n  volts:\n",
                        profile.p_states->nominal_mhz, profile.p_states->leakage_watts);
    for (const Volts& v : profile.p_states->volts)
      text += fmt::format("    - {{mhz: {:.6g}, volts: {:.6g}}}\n", v.mhz, v.volts);
  }
  if (profile.fit) {
    text += fmt::format("fit: {{rmse_watts: {:.4g}, max_watts: {:.4g}, points: {}", profile.fit->rmse_watts,
                        profile.fit->max_watts, profile.fit->points);
    if (profile.fit->parameters != 0) text += fmt::format(", parameters: {}", profile.fit->parameters);
    text += "}\n";
  }
  text += fmt::format("range: {{packages: {}, cores: {}, threads_per_core: {}}}\n", profile.range.packages,
                      profile.range.cores, profile.range.threads_per_core);
  text += fmt::format("assumed: [{}]\n", fmt::join(profile.assumed, ", "));
  return text;
}

}  // namespace splitplane::app

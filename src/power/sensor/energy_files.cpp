#include "power/sensor/energy_files.h"

#include <algorithm>

#include "base/text.h"
#include "power/sensor/hwmon.h"
#include "power/sensor/read_value.h"

namespace splitplane::sensor {
namespace {

constexpr std::string_view kRapl = "intel-rapl:";

std::string scope_of_zone(const std::string& name) {
  if (name.starts_with("package")) return "package";
  if (name == "psys") return "system";
  if (name == "core") return "cores";
  if (name == "dram") return "memory";
  return name == "uncore" ? "uncore" : "other";
}

// Reads it once, so that a counter which cannot be read is refused at the start.
Expected<EnergyFiles::Zone> zone_at(const std::string& directory, const std::string& of) {
  const auto name = read_text(directory + "/name");
  if (!name) return tl::unexpected(name.error());
  const auto range = read_count(directory + "/max_energy_range_uj");
  if (!range) return tl::unexpected(range.error());
  if (*range == 0) return fail("{}/max_energy_range_uj: holds 0, so that its counter cannot be used", directory);
  const auto now = read_count(directory + "/energy_uj");
  if (!now) return tl::unexpected(now.error());
  const std::string shown = app::printable(*name, 32);
  return EnergyFiles::Zone{.scope = scope_of_zone(*name),
                           .name = of.empty() ? shown : fmt::format("{} {}", of, shown),
                           .file = directory + "/energy_uj",
                           .counter = EnergyCounter(*range)};
}

// A zone's own zones are beside it in class/powercap: intel-rapl:0:1 is one of intel-rapl:0.
Expected<void> add_rapl_zones(const std::string& all, std::vector<EnergyFiles::Zone>& zones) {
  const auto entries = entries_of(all);
  for (const std::string& entry : entries) {
    if (!entry.starts_with(kRapl) || std::count(entry.begin(), entry.end(), ':') != 1) continue;
    auto zone = zone_at(fmt::format("{}/{}", all, entry), "");
    if (!zone) return tl::unexpected(zone.error());
    const std::string package = zone->name;
    zones.push_back(*std::move(zone));
    for (const std::string& inner : entries) {
      if (!inner.starts_with(entry + ":")) continue;
      auto part = zone_at(fmt::format("{}/{}", all, inner), package);
      if (!part) return tl::unexpected(part.error());
      zones.push_back(*std::move(part));
    }
  }
  return {};
}

}  // namespace

Expected<std::unique_ptr<Source>> EnergyFiles::open_rapl(const std::string& root) {
  const std::string all = root + "/class/powercap";
  std::vector<Zone> zones;
  if (const auto added = add_rapl_zones(all, zones); !added) return tl::unexpected(added.error());
  if (zones.empty())
    return fail("no zone intel-rapl:0 in {}: a virtual machine, or the module intel_rapl_msr is not loaded", all);
  return std::make_unique<EnergyFiles>("rapl", std::move(zones));
}

Expected<std::unique_ptr<Source>> EnergyFiles::open_amd(const std::string& root) {
  const auto files = hwmon_files(root, "amd_energy", "energy", "input");
  if (files.empty())
    return fail("no chip amd_energy with energy1_input in {}/class/hwmon (chips: {})", root, hwmon_chips(root));
  std::vector<Zone> zones;
  for (const std::string& file : files) {
    if (const auto now = read_count(file); !now) return tl::unexpected(now.error());
    const auto label = read_text(file.substr(0, file.size() - std::string_view("input").size()) + "label");
    if (!label) return tl::unexpected(label.error());
    zones.push_back({.scope = label->starts_with("Esocket") ? "package" : "core",
                     .name = app::printable(*label, 32),
                     .file = file,
                     .counter = EnergyCounter(0)});
  }
  return std::make_unique<EnergyFiles>("amd_energy", std::move(zones));
}

Expected<std::vector<Reading>> EnergyFiles::sample(std::uint64_t now_ns) {
  std::vector<Reading> readings;
  for (Zone& zone : zones_) {
    const auto now = read_count(zone.file);
    if (!now) return tl::unexpected(now.error());
    readings.push_back({.scope = zone.scope, .name = zone.name, .watts = zone.counter.watts(*now, now_ns)});
  }
  return readings;
}

}  // namespace splitplane::sensor

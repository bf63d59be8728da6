#include "power/sensor/choose.h"

#include <algorithm>

#include "base/text.h"
#include "power/sensor/acpi_meter.h"
#include "power/sensor/energy_files.h"
#include "power/sensor/external.h"

namespace splitplane::sensor {
namespace {

constexpr std::string_view kFile = "file:", kCommand = "command:";

}  // namespace

bool is_source_word(std::string_view word) {
  if (word.starts_with(kFile)) return word.size() > kFile.size();
  if (word.starts_with(kCommand)) return word.size() > kCommand.size();
  return word == "none" || word == "auto" ||
         std::find(kSourceNames.begin(), kSourceNames.end(), word) != kSourceNames.end();
}

Expected<std::unique_ptr<Source>> open_source(std::string_view name, const SensorSettings& settings) {
  if (name == "acpi") return AcpiMeter::open(settings.root);
  if (name == "ipmi") return External::open_ipmi(settings.ipmi_tool);
  if (name == "rapl") return EnergyFiles::open_rapl(settings.root);
  return EnergyFiles::open_amd(settings.root);
}

Expected<Chosen> choose_source(const std::string& word, const SensorSettings& settings) {
  Chosen chosen;
  if (!is_source_word(word)) return fail("sensor '{}' is unknown; allowed: {}", app::printable(word), kSourceWords);
  if (word == "none") return chosen;
  if (word == "auto") {
    for (const std::string_view name : kSourceNames) {
      auto source = open_source(name, settings);
      if (source) {
        chosen.source = *std::move(source);
        return chosen;
      }
      chosen.refused.push_back({std::string(name), source.error().message});
    }
    return chosen;
  }
  auto source = word.starts_with(kFile)      ? External::open_file(word.substr(kFile.size()))
                : word.starts_with(kCommand) ? External::open_command(word.substr(kCommand.size()))
                                             : open_source(word, settings);
  if (!source) return fail("sensor {}: {}", app::printable(word), source.error().message);
  chosen.source = *std::move(source);
  return chosen;
}

}  // namespace splitplane::sensor

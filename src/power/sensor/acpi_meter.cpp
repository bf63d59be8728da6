#include "power/sensor/acpi_meter.h"

#include "power/sensor/hwmon.h"
#include "power/sensor/read_value.h"

namespace splitplane::sensor {

Expected<std::unique_ptr<Source>> AcpiMeter::open(const std::string& root) {
  auto files = hwmon_files(root, "power_meter", "power", "average");
  if (files.empty())
    return fail(
        "no chip power_meter with power1_average in {}/class/hwmon (chips: {}); the board's ACPI may have none, "
        "or the module acpi_power_meter is not loaded",
        root, hwmon_chips(root));
  auto meter = std::make_unique<AcpiMeter>(std::move(files));
  if (const auto first = meter->sample(0); !first) return tl::unexpected(first.error());
  return std::unique_ptr<Source>(std::move(meter));
}

Expected<std::vector<Reading>> AcpiMeter::sample(std::uint64_t /*now_ns*/) {
  std::vector<Reading> readings;
  for (const std::string& file : files_) {
    const auto microwatts = read_count(file);
    if (!microwatts) return tl::unexpected(microwatts.error());
    readings.push_back({.scope = "system",
                        .name = fmt::format("meter {}", readings.size() + 1),
                        .watts = static_cast<double>(*microwatts) * 1e-6});
  }
  return readings;
}

}  // namespace splitplane::sensor

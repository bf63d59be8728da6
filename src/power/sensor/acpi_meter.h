// The power meters of the board, as the kernel's acpi_power_meter shows them in hwmon: watts of the machine without the
// losses of its power supply. It reads what the meter averages over its own interval.
#pragma once

#include <string>
#include <vector>

#include "power/sensor/source.h"

namespace splitplane::sensor {

class AcpiMeter : public Source {
 public:
  // Error: there is none under `root` (/sys), or it cannot be read.
  [[nodiscard]] static Expected<std::unique_ptr<Source>> open(const std::string& root);

  explicit AcpiMeter(std::vector<std::string> files) : files_(std::move(files)) {}
  [[nodiscard]] std::string name() const override { return "acpi"; }
  [[nodiscard]] Expected<std::vector<Reading>> sample(std::uint64_t now_ns) override;

 private:
  std::vector<std::string> files_;  // powerN_average
};

}  // namespace splitplane::sensor

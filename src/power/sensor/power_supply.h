// Watts at the wall from watts behind the power supply, as paper PWR has it: (ACPI + what ACPI does not see) /
// efficiency.
#pragma once

#include <limits>
#include <vector>

namespace splitplane::sensor {

struct EfficiencyPoint {
  double load = 0;  // of the rated watts, 0 to 1
  double efficiency = 1;
};

struct PowerSupply {
  double rated_watts = 920;
  double unmetered_watts = 0;  // memory, where the meter does not see it
  // Of the PWS-920P-1R2 of paper PWR; ascending in load, linear between.
  std::vector<EfficiencyPoint> efficiency{{0.2, 0.90}, {0.5, 0.92}, {1.0, 0.89}};
};

// NaN where the load is not between the first and the last point: the efficiency is not known there.
[[nodiscard]] double wall_watts(const PowerSupply& supply, double metered_watts);

}  // namespace splitplane::sensor

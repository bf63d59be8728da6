// Loads a number of cores, one after the other, and reads a sensor at each step.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/expected.h"
#include "power/calibrate/fit.h"
#include "power/sensor/source.h"

namespace splitplane::power::calibrate {

struct SweepSettings {
  std::vector<unsigned> cores;       // of one package, first threads; all of them are loaded at the last step
  std::string scope = "system";      // of the readings that are added up
  double settle_s = 3, mean_s = 20;  // at each step: what is left out, and what the mean is of
  std::vector<unsigned> khz;         // frequencies for the last step; empty: the machine's own
  std::function<bool(unsigned p_state)> set_frequency;  // of all cores, an index of khz
};

// Calls `say` before each step. Error: the sensor fails, has nothing of that scope, or a core cannot be used.
[[nodiscard]] Expected<std::vector<Point>> sweep(const SweepSettings& settings, sensor::Source& source,
                                                 const std::function<void(const std::string&)>& say);

}  // namespace splitplane::power::calibrate

// A power profile fitted to what a sensor read while a known number of cores did a known thing.
#pragma once

#include <span>

#include "base/expected.h"
#include "power/model/profile.h"

namespace splitplane::power::calibrate {

// One point of a sweep over cores of one package. All other cores slept as the machine lets them.
struct Point {
  unsigned active = 0;   // cores that ran a loop
  unsigned pausing = 0;  // cores in a loop of PAUSE; not both at a time
  double mhz = 0;        // their frequency; 0: not known
  double watts = 0;
};

// `nominal_mhz`: that of the points which the watts of cores come from; 0: frequencies are not known, and the profile
// has no P-states. Voltages come out as they explain the watts without leakage, relative to that frequency. C1 and
// TPAUSE are not known. The error of the fit is over all points. Error: a point without cores is missing, or one with.
[[nodiscard]] Expected<model::Profile> fit_profile(std::span<const Point> points, double nominal_mhz);

}  // namespace splitplane::power::calibrate

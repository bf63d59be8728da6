#include "power/sensor/power_supply.h"

#include <cstddef>

namespace splitplane::sensor {

double wall_watts(const PowerSupply& supply, double metered_watts) {
  const double watts = metered_watts + supply.unmetered_watts;
  const double load = watts / supply.rated_watts;
  const auto& points = supply.efficiency;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const auto &below = points[i - 1], &above = points[i];
    if (!(load >= below.load && load <= above.load)) continue;
    const double share = (load - below.load) / (above.load - below.load);
    return watts / (below.efficiency + share * (above.efficiency - below.efficiency));
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace splitplane::sensor

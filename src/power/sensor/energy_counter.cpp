#include "power/sensor/energy_counter.h"

#include <limits>
#include <utility>

namespace splitplane::sensor {

double EnergyCounter::watts(std::uint64_t uj, std::uint64_t now_ns) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (range_uj_ != 0 && uj > range_uj_) {
    last_.reset();
    return kNone;
  }
  const auto before = std::exchange(last_, Last{uj, now_ns});
  if (!before || now_ns <= before->ns) return kNone;
  const bool wrapped = uj < before->uj;
  if (wrapped && range_uj_ == 0) return kNone;
  const std::uint64_t delta = wrapped ? range_uj_ - before->uj + uj : uj - before->uj;
  return static_cast<double>(delta) * 1e3 / static_cast<double>(now_ns - before->ns);
}

}  // namespace splitplane::sensor

#include "power/calibrate/fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace splitplane::power::calibrate {
namespace {

struct Mean {
  double sum = 0;
  unsigned count = 0;
  void add(double value) { sum += value, ++count; }
  [[nodiscard]] double get() const { return sum / count; }
};

// The line through (number of cores, watts above the base) with the least squares.
struct Line {
  double at_zero = 0, slope = 0;
};
Line line_through(const std::vector<std::pair<double, double>>& points) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const auto& [cores, watts] : points) n += 1, x += cores, y += watts, xx += cores * cores, xy += cores * watts;
  const double spread = n * xx - x * x;
  if (spread == 0) return {.at_zero = 0, .slope = y / x};  // one number of cores only: all of it is theirs
  const double slope = (n * xy - x * y) / spread;
  return {.at_zero = (y - slope * x) / n, .slope = slope};
}

// The voltage, relative to that of the nominal frequency, which explains the watts: active * f/fn * v^2.
std::vector<model::Volts> volts_of(const std::map<double, Mean>& core_watts, double active, double nominal) {
  std::vector<model::Volts> volts;
  for (const auto& [mhz, watts] : core_watts)
    volts.push_back({.mhz = mhz, .volts = std::sqrt(std::max(watts.get(), 0.0) / active * nominal / mhz)});
  return volts;
}

model::Fit error_of(const model::Profile& profile, std::span<const Point> points) {
  model::Fit fit{.points = static_cast<unsigned>(points.size())};
  double squares = 0;
  for (const Point& point : points) {
    const double mhz = profile.p_states ? point.mhz : 0;
    std::vector<model::Residency> cores(point.active, {.running = {{mhz, 1, 0}}});
    cores.resize(point.active + point.pausing, {.running = {{mhz, 0, 1}}});
    const double error = estimate(profile, cores).watts - point.watts;
    squares += error * error;
    fit.max_watts = std::max(fit.max_watts, std::abs(error));
  }
  fit.rmse_watts = std::sqrt(squares / static_cast<double>(points.size()));
  return fit;
}

}  // namespace

Expected<model::Profile> fit_profile(std::span<const Point> points, double nominal_mhz) {
  model::Profile profile;
  Mean base, pause;
  std::vector<std::pair<double, double>> active;
  for (const Point& point : points) {
    if (point.active + point.pausing == 0) base.add(point.watts);
    profile.range.cores = std::max(profile.range.cores, point.active + point.pausing);
  }
  if (base.count == 0) return fail("a point with all cores asleep is missing");
  profile.base_watts = base.get();
  for (const Point& point : points) {
    if (point.active > 0 && point.mhz == nominal_mhz) active.emplace_back(point.active, point.watts - base.get());
  }
  if (active.empty()) return fail("a point with an active core at the nominal frequency is missing");
  const Line line = line_through(active);
  profile.first_core_watts = std::max(line.at_zero, 0.0);
  profile.active_watts = line.slope;
  if (!(profile.active_watts > 0))
    return fail(
        "cores that run take no more power than cores that sleep, by this sensor; the sensor does not see them");
  std::map<double, Mean> at;
  for (const Point& point : points) {
    const double watts = point.watts - profile.base_watts - profile.first_core_watts;
    if (point.pausing > 0 && point.mhz == nominal_mhz) pause.add(watts / (point.pausing * profile.active_watts));
    if (point.active > 0) at[point.mhz].add(watts / point.active);
  }
  if (pause.count != 0) profile.pause_share = std::clamp(pause.get(), 0.0, 1.0);
  if (nominal_mhz != 0 && at.size() > 1)
    profile.p_states =
        model::PStates{.nominal_mhz = nominal_mhz, .volts = volts_of(at, profile.active_watts, nominal_mhz)};
  profile.fit = error_of(profile, points);
  profile.fit->parameters = 2 + (profile.first_core_watts > 0 ? 1 : 0) + (pause.count != 0 ? 1 : 0) +
                            static_cast<unsigned>(profile.p_states ? at.size() - 1 : 0);
  return profile;
}

}  // namespace splitplane::power::calibrate

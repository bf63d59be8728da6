#include "traffic/schedule.h"

#include <algorithm>
#include <cmath>

namespace splitplane::traffic {

Schedule::Schedule(Arrivals arrivals, double rate, std::uint64_t seed)
    : arrivals_(std::move(arrivals)), rate_(rate), gap_ns_(1e9 / rate), random_(seed) {}

// Times are computed from the packet's number where they can be, so that rounding does not add up; a double holds
// ns exactly for 104 days.
std::uint64_t Schedule::next() {
  const double at = std::visit([this](const auto& arrivals) { return next_of(arrivals); }, arrivals_);
  ++n_;
  return last_ = std::max(last_, static_cast<std::uint64_t>(at));
}

double Schedule::next_of(const Poisson&) {
  at_ns_ -= std::log(random_.unit()) * gap_ns_;
  return at_ns_;
}

double Schedule::next_of(const Bursts& bursts) const {
  return static_cast<double>(n_ / bursts.packets * bursts.packets) * gap_ns_;
}

// n(t) = r t + a t^2 / 2, solved for t in the form that does not cancel when a is small or negative.
double Schedule::next_of(const Ramp& ramp) const {
  const double change = (ramp.to_rate - rate_) / ramp.over_s;
  const double in_ramp = (rate_ + ramp.to_rate) / 2 * ramp.over_s;
  const auto n = static_cast<double>(n_);
  if (n >= in_ramp) return (ramp.over_s + (n - in_ramp) / ramp.to_rate) * 1e9;
  return 2 * n / (rate_ + std::sqrt(rate_ * rate_ + 2 * change * n)) * 1e9;
}

// A round ends one mean gap behind its last packet, so that the first of the next does not collide with it.
double Schedule::next_of(const Recorded& recorded) const {
  const auto& times = recorded.times_ns;
  const auto packets = static_cast<double>(times.size());
  const double length = std::max(static_cast<double>(times.back()) * packets / std::max(packets - 1, 1.0), 1.0);
  return (static_cast<double>(n_ / times.size()) * length + static_cast<double>(times[n_ % times.size()])) /
         recorded.speed;
}

}  // namespace splitplane::traffic

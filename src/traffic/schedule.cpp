#include "traffic/schedule.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace splitplane::traffic {

Schedule::Schedule(Arrivals arrivals, double rate, std::uint64_t seed)
    : arrivals_(std::move(arrivals)), rate_(rate), gap_ns_(1e9 / rate), random_(seed) {}

// Times are computed from the packet's number where possible, so that rounding errors do not add up. A double holds ns
// exactly for 104 days.
std::uint64_t Schedule::next() {
  const double at = std::visit([this](const auto& arrivals) { return next_of(arrivals); }, arrivals_);
  ++n_;
  return last_ = std::max(last_, static_cast<std::uint64_t>(at));
}

double Schedule::next_of(const Poisson&) {
  at_ns_ -= std::log(random_.unit()) * gap_ns_;
  return at_ns_;
}

double Schedule::time_of(const Bursts& bursts, std::uint64_t n) const {
  return static_cast<double>(n / bursts.packets * bursts.packets) * gap_ns_;
}

// n(t) = r t + a t^2 / 2, solved for t in the form that stays precise when a is small or negative.
double Schedule::time_of(const Ramp& ramp, std::uint64_t number) const {
  const double change = (ramp.to_rate - rate_) / ramp.over_s;
  const double in_ramp = (rate_ + ramp.to_rate) / 2 * ramp.over_s;
  const auto n = static_cast<double>(number);
  if (n >= in_ramp) return (ramp.over_s + (n - in_ramp) / ramp.to_rate) * 1e9;
  return 2 * n / (rate_ + std::sqrt(rate_ * rate_ + 2 * change * n)) * 1e9;
}

// A round ends one mean gap after its last packet, so that the first packet of the next round does not collide with it.
double Schedule::time_of(const Recorded& recorded, std::uint64_t n) const {
  const auto& times = recorded.times_ns;
  const auto packets = static_cast<double>(times.size());
  const double length = std::max(static_cast<double>(times.back()) * packets / std::max(packets - 1, 1.0), 1.0);
  return (static_cast<double>(n / times.size()) * length + static_cast<double>(times[n % times.size()])) /
         recorded.speed;
}

std::uint64_t Schedule::skip_until(std::uint64_t ns, std::uint64_t most) {
  if (ns < last_) return 0;
  const auto end = static_cast<double>(ns) + 1;  // times are rounded down
  const std::uint64_t due = std::visit([&](const auto& arrivals) { return due_until(arrivals, end, most); }, arrivals_);
  n_ += due;
  return due;
}

// Times ascend: doubled steps find a packet that is due later, then halved steps find the first one.
template <class Kind>
std::uint64_t Schedule::due_until(const Kind& arrivals, double end, std::uint64_t most) const {
  const auto is_due = [&](std::uint64_t ahead) { return time_of(arrivals, n_ + ahead) < end; };
  std::uint64_t low = 0, step = 1;  // all packets below low are due
  while (low < most && is_due(std::min(low + step, most) - 1)) {
    low = std::min(low + step, most);
    step *= 2;
  }
  std::uint64_t high = std::min(low + step, most);
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (is_due(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// The process has no memory: the time after the last packet is a new process, and so is the time after `end`.
std::uint64_t Schedule::due_until(const Poisson&, double end, std::uint64_t most) {
  const double mean = (end - at_ns_) / gap_ns_;
  if (mean <= 0) return 0;
  at_ns_ = end;
  std::seed_seq seed{random_.next(), random_.next()};
  std::mt19937_64 engine(seed);
  return std::min(std::poisson_distribution<std::uint64_t>(mean)(engine), most);
}

}  // namespace splitplane::traffic

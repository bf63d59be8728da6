#include "power/sensor/average.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace splitplane::sensor {

void Average::add(double value, std::uint64_t now_ns) {
  const std::uint64_t length = began_ && now_ns > last_ns_ ? now_ns - last_ns_ : 0;
  began_ = true;
  last_ns_ = now_ns;
  if (std::isnan(value) || length == 0) return;
  parts_.push_back({value, std::min(length, window_ns_)});
  std::uint64_t all = 0;
  for (const Part& part : parts_) all += part.length_ns;
  // The oldest part may stand for some of its length only.
  while (all > window_ns_) {
    Part& oldest = parts_.front();
    const std::uint64_t cut = std::min(oldest.length_ns, all - window_ns_);
    oldest.length_ns -= cut;
    all -= cut;
    if (oldest.length_ns == 0) parts_.pop_front();
  }
}

double Average::mean() const {
  double sum = 0, length = 0;
  for (const Part& part : parts_) {
    sum += part.value * static_cast<double>(part.length_ns);
    length += static_cast<double>(part.length_ns);
  }
  return length == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / length;
}

bool Average::full() const {
  std::uint64_t all = 0;
  for (const Part& part : parts_) all += part.length_ns;
  return all >= window_ns_;
}

}  // namespace splitplane::sensor

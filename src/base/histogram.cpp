#include "base/histogram.h"

#include <algorithm>

namespace splitplane {

std::uint64_t Histogram::lowest_at(std::size_t index) {
  return index == 0 ? 0 : highest_at(index - 1) + 1;
}

std::uint64_t Histogram::highest_at(std::size_t index) {
  if (index < 2 * kHalf) return index;
  const std::uint64_t bucket = index / kHalf - 1;
  const std::uint64_t step = index % kHalf + kHalf;
  return ((step + 1) << bucket) - 1;
}

double Histogram::variance() const {
  if (total_ == 0) return 0;
  double sum = 0, squares = 0;
  const auto middle = [](std::size_t i) { return static_cast<double>(lowest_at(i) + highest_at(i)) / 2; };
  const auto samples = static_cast<double>(total_);
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] != 0) sum += static_cast<double>(counts_[i]) * middle(i);
  }
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const double off = middle(i) - sum / samples;
    if (counts_[i] != 0) squares += static_cast<double>(counts_[i]) * off * off;
  }
  return squares / samples;
}

std::uint64_t Histogram::percentile(double percent) const {
  if (total_ == 0) return 0;
  const auto rank = static_cast<std::uint64_t>(percent * static_cast<double>(total_) / 100 + 0.5);
  const std::uint64_t wanted = std::clamp<std::uint64_t>(rank, 1, total_);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= wanted) return std::min(highest_at(i), max_);
  }
  return max_;
}

}  // namespace splitplane

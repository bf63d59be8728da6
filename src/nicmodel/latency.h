// Latencies as the peer measures them: a histogram with 1/32 resolution, and a series over time (for example gpu-fig5
// of the GPU paper). The model's thread writes them; read them when it has stopped.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace splitplane::nicmodel {

class LatencyHistogram {
 public:
  void add(std::uint64_t ns) {
    ++counts_[bucket(ns)];
    ++count_;
    sum_ += static_cast<double>(ns);
    squares_ += static_cast<double>(ns) * static_cast<double>(ns);
    smallest_ = std::min(smallest_, ns);
    largest_ = std::max(largest_, ns);
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t smallest() const { return count_ == 0 ? 0 : smallest_; }
  [[nodiscard]] std::uint64_t largest() const { return largest_; }
  [[nodiscard]] double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }
  [[nodiscard]] double variance() const {
    if (count_ == 0) return 0;
    return std::max(0.0, squares_ / static_cast<double>(count_) - mean() * mean());
  }
  // The value at or below which this part of all samples lies (0..1); it is the upper end of its bucket.
  [[nodiscard]] std::uint64_t quantile(double part) const {
    const double wanted = part * static_cast<double>(count_);
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      below += counts_[i];
      if (counts_[i] != 0 && static_cast<double>(below) >= wanted) return std::min(upper_end(i), largest_);
    }
    return largest_;
  }
  // Buckets that are not empty: {upper end in ns, count}.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> buckets() const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] != 0) all.emplace_back(upper_end(i), counts_[i]);
    }
    return all;
  }

 private:
  static constexpr unsigned kBits = 5;  // 32 buckets for each power of two
  static std::size_t bucket(std::uint64_t ns) {
    if (ns < 1U << kBits) return ns;
    const unsigned shift = static_cast<unsigned>(std::bit_width(ns)) - 1 - kBits;
    return (std::size_t{shift} << kBits) + (ns >> shift);
  }
  static std::uint64_t upper_end(std::size_t i) {
    if (i < 2U << kBits) return i;
    const std::size_t shift = (i >> kBits) - 1;
    return ((i - (shift << kBits) + 1) << shift) - 1;
  }
  std::vector<std::uint64_t> counts_ = std::vector<std::uint64_t>((64 - kBits + 1) << kBits);
  std::uint64_t count_ = 0, smallest_ = ~0ULL, largest_ = 0;
  double sum_ = 0, squares_ = 0;
};

// Latency over time: for each interval the number of packets, their sum and the highest, while there is room.
class LatencySeries {
 public:
  struct Point {
    std::uint64_t packets = 0, sum_ns = 0, largest_ns = 0;
  };
  LatencySeries(std::uint64_t interval_ns, std::size_t points) : interval_ns_(interval_ns), points_(points) {}

  void add(std::uint64_t since_start_ns, std::uint64_t latency_ns) {
    if (interval_ns_ == 0) return;
    const std::uint64_t at = since_start_ns / interval_ns_;
    if (at >= points_.size()) return;
    Point& point = points_[at];
    ++point.packets;
    point.sum_ns += latency_ns;
    point.largest_ns = std::max(point.largest_ns, latency_ns);
    used_ = std::max<std::size_t>(used_, at + 1);
  }
  [[nodiscard]] std::uint64_t interval_ns() const { return interval_ns_; }
  [[nodiscard]] std::vector<Point> points() const {
    return {points_.begin(), points_.begin() + static_cast<std::ptrdiff_t>(used_)};
  }

 private:
  std::uint64_t interval_ns_;
  std::vector<Point> points_;
  std::size_t used_ = 0;
};

}  // namespace splitplane::nicmodel

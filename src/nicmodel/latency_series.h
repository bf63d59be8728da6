// Latency over time as the peer measures it (for example gpu-fig5 of the GPU paper): for each interval the number of
// packets, their sum and the highest, while there is room. The model's thread writes it; read it after that thread
// ended.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace splitplane::nicmodel {

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

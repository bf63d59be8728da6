// The mean of a value over the last 20 s, as paper PWR takes it once the load is reached.
#pragma once

#include <cstdint>
#include <deque>

namespace splitplane::sensor {

class Average {
 public:
  static constexpr std::uint64_t kWindowNs = 20'000'000'000;

  explicit Average(std::uint64_t window_ns = kWindowNs) : window_ns_(window_ns) {}

  // The value held since the add() before. A value that is NaN counts as a gap.
  void add(double value, std::uint64_t now_ns);
  // The load has changed: what was before does not count.
  void restart() { parts_.clear(); }
  // NaN: nothing was added yet.
  [[nodiscard]] double mean() const;
  // True once the values fill the whole window.
  [[nodiscard]] bool full() const;

 private:
  struct Part {
    double value;
    std::uint64_t length_ns;
  };
  std::uint64_t window_ns_, last_ns_ = 0;
  bool began_ = false;
  std::deque<Part> parts_;
};

}  // namespace splitplane::sensor

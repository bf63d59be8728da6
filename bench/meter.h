// Times batches of operations on one core: medians in nanoseconds, and instructions if the machine counts them.
#pragma once

#include <linux/perf_event.h>
#include <rte_cycles.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

namespace splitplane::bench {

// User instructions of this thread; none if the machine (or its host) does not count them.
class Instructions {
 public:
  Instructions() {
    perf_event_attr what{};
    what.type = PERF_TYPE_HARDWARE;
    what.size = sizeof what;
    what.config = PERF_COUNT_HW_INSTRUCTIONS;
    what.exclude_kernel = what.exclude_hv = 1;
    file_ = static_cast<int>(syscall(SYS_perf_event_open, &what, 0, -1, -1, 0));
  }
  ~Instructions() {
    if (file_ >= 0) close(file_);
  }
  Instructions(const Instructions&) = delete;
  Instructions& operator=(const Instructions&) = delete;
  [[nodiscard]] bool available() const { return file_ >= 0; }
  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t value = 0;
    return file_ >= 0 && read(file_, &value, sizeof value) == sizeof value ? value : 0;
  }

 private:
  int file_ = -1;
};

// Times one batch at a time: the time between begin() and end() counts.
class Meter {
 public:
  // `cold`: before each batch other work used the core and its level-2 cache.
  explicit Meter(const Instructions& instructions, bool cold = false)
      : instructions_(instructions), swept_(cold ? 8U << 20 : 0) {}
  void begin() {
    for (std::size_t i = 0; i < swept_.size(); i += 64) ++swept_[i];
    instructions_before_ = instructions_.count();
    before_ = rte_rdtsc_precise();
  }
  void end(double operations) {
    const std::uint64_t after = rte_rdtsc_precise();
    cycles_.push_back(static_cast<double>(after - before_) / operations);
    counts_.push_back(static_cast<double>(instructions_.count() - instructions_before_) / operations);
  }
  [[nodiscard]] nlohmann::json figures() {
    nlohmann::json out{{"ns", median(cycles_) * 1e9 / static_cast<double>(rte_get_tsc_hz())}};
    if (instructions_.available()) out["instructions"] = median(counts_);
    return out;
  }

 private:
  static double median(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }
  const Instructions& instructions_;
  std::vector<std::uint8_t> swept_;
  std::uint64_t before_ = 0, instructions_before_ = 0;
  std::vector<double> cycles_, counts_;
};

}  // namespace splitplane::bench

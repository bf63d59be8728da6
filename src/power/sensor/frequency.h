// The frequency that cores really ran at.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/expected.h"
#include "power/governor/sysfs.h"

namespace splitplane::sensor {

// One core, by its counters APERF and MPERF, which count only while it runs, or else by what the kernel says at the
// moment of the call.
class CoreFrequency {
 public:
  // `root`: /sys; the counters are in <root>/../dev/cpu/N/msr, which only root may read. `tsc_mhz`: what MPERF counts
  // by. Error: neither of both can be read, with both reasons.
  [[nodiscard]] static Expected<CoreFrequency> open(const std::string& root, unsigned core, double tsc_mhz);

  // MHz: the mean since the call before, while the core was not asleep; by scaling_cur_freq: now. The first call by
  // counters, and one between which the core never ran, have no value: 0.
  [[nodiscard]] Expected<double> sample();
  // "APERF/MPERF" or "scaling_cur_freq", and why not the first of them.
  [[nodiscard]] const std::string& how() const { return how_; }
  [[nodiscard]] const std::string& why_not_counters() const { return why_not_counters_; }

 private:
  struct Counts {
    std::uint64_t aperf, mperf;
  };
  [[nodiscard]] Expected<Counts> read_counts() const;

  std::string msr_path_, cur_path_, how_, why_not_counters_;
  double tsc_mhz_ = 0;
  governor::Descriptor msr_;
  std::optional<Counts> last_;
};

}  // namespace splitplane::sensor

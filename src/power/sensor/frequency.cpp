#include "power/sensor/frequency.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "power/sensor/read_value.h"

namespace splitplane::sensor {
namespace {

constexpr off_t kMperf = 0xE7, kAperf = 0xE8;  // Intel SDM volume 4, table 2-2; AMD PPR: the same numbers

Expected<std::uint64_t> read_msr(int descriptor, const std::string& path, off_t number) {
  std::uint64_t value = 0;
  const ssize_t n = ::pread(descriptor, &value, sizeof value, number);
  if (n == static_cast<ssize_t>(sizeof value)) return value;
  return fail("{}: register {:#x} cannot be read: {}", path, number, n < 0 ? std::strerror(errno) : "too short");
}

}  // namespace

Expected<CoreFrequency> CoreFrequency::open(const std::string& root, unsigned core, double tsc_mhz) {
  CoreFrequency frequency;
  frequency.msr_path_ = fmt::format("{}/../dev/cpu/{}/msr", root, core);
  frequency.cur_path_ = fmt::format("{}/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", root, core);
  frequency.tsc_mhz_ = tsc_mhz;
  frequency.msr_ = governor::Descriptor(::open(frequency.msr_path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (frequency.msr_.is_open()) {
    if (const auto counts = frequency.read_counts()) {
      frequency.how_ = "APERF/MPERF";
      frequency.last_ = *counts;
      return frequency;
    } else {
      frequency.why_not_counters_ = counts.error().message;
    }
  } else {
    frequency.why_not_counters_ = fmt::format("{}: {}", frequency.msr_path_, std::strerror(errno));
  }
  frequency.msr_.close();
  if (const auto khz = read_count(frequency.cur_path_); !khz)
    return fail("{}; {}", frequency.why_not_counters_, khz.error().message);
  frequency.how_ = "scaling_cur_freq";
  return frequency;
}

Expected<CoreFrequency::Counts> CoreFrequency::read_counts() const {
  const auto aperf = read_msr(msr_.get(), msr_path_, kAperf);
  if (!aperf) return tl::unexpected(aperf.error());
  const auto mperf = read_msr(msr_.get(), msr_path_, kMperf);
  if (!mperf) return tl::unexpected(mperf.error());
  if (*aperf == 0 && *mperf == 0) return fail("{}: APERF and MPERF stand still at 0", msr_path_);
  return Counts{.aperf = *aperf, .mperf = *mperf};
}

Expected<double> CoreFrequency::sample() {
  if (!msr_.is_open())
    return read_count(cur_path_).map([](std::uint64_t khz) { return static_cast<double>(khz) / 1e3; });
  const auto now = read_counts();
  if (!now) return tl::unexpected(now.error());
  const auto before = std::exchange(last_, *now);
  const std::uint64_t aperf = now->aperf - before->aperf, mperf = now->mperf - before->mperf;  // they wrap at 2^64
  return mperf == 0 ? 0 : tsc_mhz_ * static_cast<double>(aperf) / static_cast<double>(mperf);
}

}  // namespace splitplane::sensor

#include "power/governor/uclamp.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "power/governor/core_files.h"

namespace splitplane::governor {
namespace {

// struct sched_attr of linux/sched/types.h, which does not go with the C library's sched.h.
struct SchedulingAttributes {
  std::uint32_t size, policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime, deadline, period;
  std::uint32_t util_min, util_max;
};
static_assert(sizeof(SchedulingAttributes) == 56);
constexpr std::uint64_t kKeepPolicy = 0x08, kKeepParams = 0x10, kUtilMin = 0x20, kUtilMax = 0x40;
constexpr std::uint32_t kReset = ~0U, kWhole = 1024;

bool clamp(pid_t thread, std::uint32_t lowest, std::uint32_t highest) {
  SchedulingAttributes attributes{.size = sizeof(SchedulingAttributes),
                                  .flags = kKeepPolicy | kKeepParams | kUtilMin | kUtilMax,
                                  .util_min = lowest,
                                  .util_max = highest};
  return ::syscall(SYS_sched_setattr, thread, &attributes, 0U) == 0;
}

}  // namespace

Expected<Frequencies> Uclamp::begin() {
  const std::string cpufreq = cpufreq_directory(settings_);
  auto loan = begin_frequency_loan(settings_);
  if (!loan) return tl::unexpected(loan.error());
  loan_.emplace(*std::move(loan));
  auto frequencies = read_frequencies(cpufreq);
  if (!frequencies) return frequencies;
  const auto known = read_line(cpufreq + "/scaling_available_governors").value_or("");
  if ((" " + known + " ").find(" schedutil ") == std::string::npos)
    return fail("{} has no governor schedutil; it has: {}", cpufreq, known);
  // To take all bounds off this thread, which has none, changes nothing.
  if (!clamp(0, kReset, kReset)) return fail("the kernel has no utilization clamping: {}", std::strerror(errno));
  if (const auto done = loan_->change(cpufreq + "/scaling_governor", "schedutil"); !done)
    return tl::unexpected(done.error());
  khz_ = frequencies->khz;
  frequencies->driver += ", uclamp";
  return frequencies;
}

bool Uclamp::set(unsigned /*before*/, unsigned p_state) {
  const auto share = static_cast<std::uint32_t>(std::uint64_t{kWhole} * khz_[p_state] / khz_[0]);
  const pid_t thread = ::gettid();
  thread_.store(thread);
  return clamp(thread, share, share);
}

std::size_t Uclamp::give_back() {
  if (const pid_t thread = thread_.exchange(0); thread != 0) static_cast<void>(clamp(thread, kReset, kReset));
  const std::size_t left = loan_ ? loan_->give_back().size() : 0;
  loan_.reset();
  return left;
}

}  // namespace splitplane::governor

#include "power/governor/frequencies.h"

#include <algorithm>
#include <functional>
#include <sstream>

#include "power/governor/sysfs.h"

namespace splitplane::governor {
namespace {

constexpr unsigned kStepKhz = 100'000;  // of the multiplier of most processors

// The limits that the machine's administrator allows.
struct Limits {
  unsigned lowest, highest;
};

template <class T>
std::vector<T> words(const std::string& path) {
  std::istringstream line(read_line(path).value_or(""));
  std::vector<T> all;
  for (T word{}; line >> word;) all.push_back(word);
  return all;
}

// True if the turbo range is off for the whole machine, by the file of acpi-cpufreq and amd-pstate, or of intel_pstate.
bool turbo_off(const std::string& directory) {
  const std::string cpu = directory + "/../..";
  return read_line(cpu + "/cpufreq/boost") == "0" || read_line(directory + "/boost") == "0" ||
         read_line(cpu + "/intel_pstate/no_turbo") == "1";
}

// acpi-cpufreq lists the turbo range as 1 MHz more than the highest frequency.
bool begins_with_turbo(const std::vector<unsigned>& khz) {
  return khz.size() > 1 && khz[0] - 1000 == khz[1];
}

// Selects at most kMaxPStates evenly, with both ends (and the frequency below turbo).
std::vector<unsigned> thinned(const std::vector<unsigned>& khz, bool turbo) {
  if (khz.size() <= kMaxPStates) return khz;
  const std::size_t first = turbo ? 1 : 0;
  std::vector<unsigned> some(khz.begin(), khz.begin() + static_cast<std::ptrdiff_t>(first));
  const std::size_t wanted = kMaxPStates - first, last = khz.size() - 1 - first;
  for (std::size_t i = 0; i < wanted; ++i) some.push_back(khz[first + i * last / (wanted - 1)]);
  return some;
}

Expected<Frequencies> from_limits(const std::string& directory, const Limits& limits, Frequencies result) {
  const auto lowest = read_number(directory + "/cpuinfo_min_freq");
  const auto highest = read_number(directory + "/cpuinfo_max_freq");
  if (!lowest || !highest) return fail("{} has neither a list of frequencies nor two limits", directory);
  const unsigned bottom = std::max(*lowest, limits.lowest);
  unsigned top = std::min(*highest, limits.highest);
  const unsigned base = read_number(directory + "/base_frequency").value_or(top);
  if (base > bottom && base < top) {
    result.turbo = !turbo_off(directory);
    if (result.turbo) result.khz.push_back(top);
    top = base;
  }
  if (bottom >= top) return fail("{} has one frequency only", directory);
  const auto steps = static_cast<unsigned>(kMaxPStates - result.khz.size() - 1);
  const unsigned even = (top - bottom + steps - 1) / steps;
  const unsigned step = (even + kStepKhz - 1) / kStepKhz * kStepKhz;
  for (unsigned khz = top; khz > bottom; khz = khz - bottom > step ? khz - step : bottom) result.khz.push_back(khz);
  result.khz.push_back(bottom);
  return result;
}

}  // namespace

Expected<Frequencies> read_frequencies(const std::string& directory) {
  const auto driver = read_line(directory + "/scaling_driver");
  if (!driver) return fail("{} is not there: a virtual machine, or a kernel without a cpufreq driver", directory);
  Frequencies result{.driver = *driver};
  const auto governors = words<std::string>(directory + "/scaling_available_governors");
  result.userspace = std::find(governors.begin(), governors.end(), "userspace") != governors.end();
  auto khz = words<unsigned>(directory + "/scaling_available_frequencies");
  const Limits limits{read_number(directory + "/scaling_min_freq").value_or(0),
                      read_number(directory + "/scaling_max_freq").value_or(~0U)};
  if (khz.empty()) return from_limits(directory, limits, std::move(result));
  std::sort(khz.begin(), khz.end(), std::greater<>());
  khz.erase(std::unique(khz.begin(), khz.end()), khz.end());
  if (begins_with_turbo(khz) && turbo_off(directory)) khz.erase(khz.begin());
  std::erase_if(khz, [&](unsigned f) { return f < limits.lowest || f > limits.highest; });
  result.turbo = begins_with_turbo(khz);
  if (khz.size() < 2) return fail("{} has one frequency only", directory);
  result.khz = thinned(khz, result.turbo);
  return result;
}

}  // namespace splitplane::governor

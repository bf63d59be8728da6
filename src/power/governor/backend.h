// One way to set the frequency of a core. A governor has one of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "power/governor/frequencies.h"

namespace splitplane::governor {

enum class Kind : std::uint8_t {
  none,       // the frequency stays as it is
  cpufreq,    // by the files of cpufreq in sysfs
  rte_power,  // by DPDK's power library
  epp,        // two steps, as a hint to the hardware: energy_performance_preference
  uclamp,     // by the scheduler: what the worker's thread is taken to need
};
inline constexpr std::array<std::string_view, 5> kKindNames{"none", "cpufreq", "rte_power", "epp", "uclamp"};

class Backend;

struct GovernorSettings {
  std::string root = "/sys";
  std::string loans;  // directory for the values before the change
  unsigned core = 0;
  std::uint64_t ticks_per_us = 1000;  // of the clock that Governor::take() gets
  Kind kind = Kind::cpufreq;
  // Makes the backend of rte_power, which needs DPDK; empty: this program has none.
  std::function<std::unique_ptr<Backend>(const GovernorSettings&)> rte_power = {};
};

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  // Stores what is there and takes the core; the fastest P-state is then in force if settled(). Call give_back() after
  // an error, too. The error says why the frequency cannot be set.
  [[nodiscard]] virtual Expected<Frequencies> begin() = 0;
  // False: only set() brings the first P-state into force.
  [[nodiscard]] virtual bool settled() const { return true; }
  // On the worker's thread. `before`: the P-state in force. False: it is refused, and errno says why.
  [[nodiscard]] virtual bool set(unsigned before, unsigned p_state) = 0;
  // Restores all. Returns the number of values that could not be restored and stay for `splitplane power restore`.
  [[nodiscard]] virtual std::size_t give_back() = 0;
};

// Of all kinds but `none`.
[[nodiscard]] std::unique_ptr<Backend> make_backend(const GovernorSettings& settings);

}  // namespace splitplane::governor

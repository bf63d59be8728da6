// The frequency of a core by DPDK's power library. The library restores what it changed when it is told to, and not
// after a kill. So the values are stored before it begins, as for every backend.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "power/governor/backend.h"
#include "power/governor/loan.h"

namespace splitplane::governor {

// The library's calls, which a test replaces. All but the first get the library's number of a core.
struct RtePowerCalls {
  std::function<std::optional<unsigned>(unsigned cpu)> number_of;
  std::function<Expected<void>(unsigned core)> init;  // error: what the library lacks
  std::function<void(unsigned core)> exit;
  std::function<int(unsigned core, std::uint32_t* khz, std::uint32_t most)> freqs;  // as pw_freqs()
  std::function<int(unsigned core, std::uint32_t index)> set_freq;                  // as pw_set_freq()
};
[[nodiscard]] RtePowerCalls rte_power_calls();

class RtePower : public Backend {
 public:
  explicit RtePower(const GovernorSettings& settings, RtePowerCalls calls = rte_power_calls())
      : settings_(settings), calls_(std::move(calls)) {}
  [[nodiscard]] Expected<Frequencies> begin() override;
  [[nodiscard]] bool set(unsigned before, unsigned p_state) override;
  [[nodiscard]] std::size_t give_back() override;

 private:
  GovernorSettings settings_;
  RtePowerCalls calls_;
  bool began_ = false;
  unsigned number_ = 0;
  std::vector<std::uint32_t> index_;  // of each P-state in the library's list
  std::optional<Loan> loan_;
};

// For GovernorSettings::rte_power.
[[nodiscard]] std::unique_ptr<Backend> make_rte_power(const GovernorSettings& settings);

}  // namespace splitplane::governor

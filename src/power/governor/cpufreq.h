// The frequency of a core by the files of cpufreq: scaling_setspeed where the governor `userspace` is, else both
// limits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "power/governor/backend.h"
#include "power/governor/loan.h"

namespace splitplane::governor {

class Cpufreq : public Backend {
 public:
  explicit Cpufreq(const GovernorSettings& settings) : settings_(settings) {}
  [[nodiscard]] Expected<Frequencies> begin() override;
  [[nodiscard]] bool set(unsigned before, unsigned p_state) override;
  [[nodiscard]] std::size_t give_back() override;

 private:
  Expected<void> open_limits(const std::string& cpufreq);

  GovernorSettings settings_;
  std::vector<unsigned> khz_;
  std::optional<Loan> loan_;
  Descriptor speed_, lowest_, highest_;  // speed_ alone, or the two limits
};

}  // namespace splitplane::governor

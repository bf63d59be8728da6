// The energy performance preference of a core, a hint to hardware that chooses its frequency alone (intel_pstate and
// amd-pstate, active). It has two steps: `performance`, and the preference that saves most. How slow the second one is
// the hardware decides, so it counts as the lowest frequency: a policy takes it only where that suffices.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "power/governor/backend.h"
#include "power/governor/loan.h"

namespace splitplane::governor {

class Epp : public Backend {
 public:
  explicit Epp(const GovernorSettings& settings) : settings_(settings) {}
  [[nodiscard]] Expected<Frequencies> begin() override;
  [[nodiscard]] bool set(unsigned before, unsigned p_state) override;
  [[nodiscard]] std::size_t give_back() override;

 private:
  GovernorSettings settings_;
  std::array<std::string, 2> words_;
  std::optional<Loan> loan_;
  Descriptor file_;
};

}  // namespace splitplane::governor

// The frequency of a core by the scheduler: the worker's thread is taken to need as much of the core as the P-state
// says, no more and no less, and the kernel's governor `schedutil` chooses the frequency for that. What the thread is
// taken for ends with the thread.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <optional>
#include <vector>

#include "power/governor/backend.h"
#include "power/governor/loan.h"

namespace splitplane::governor {

class Uclamp : public Backend {
 public:
  explicit Uclamp(const GovernorSettings& settings) : settings_(settings) {}
  [[nodiscard]] Expected<Frequencies> begin() override;
  [[nodiscard]] bool settled() const override { return false; }
  [[nodiscard]] bool set(unsigned before, unsigned p_state) override;
  [[nodiscard]] std::size_t give_back() override;

 private:
  GovernorSettings settings_;
  std::vector<unsigned> khz_;
  std::optional<Loan> loan_;
  std::atomic<pid_t> thread_{0};  // the worker's, once it has set something
};

}  // namespace splitplane::governor

// Sets the frequency of one worker's core by a backend, and how deep the core may sleep. It takes these settings when a
// worker's policy asks for them, and gives them back at the end. If nothing can be set it says why, and the worker runs
// without them.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/counter.h"
#include "power/governor/backend.h"
#include "power/governor/loan.h"

namespace splitplane::governor {

class Governor {
 public:
  explicit Governor(const GovernorSettings& settings);
  ~Governor() { give_back(); }
  Governor(const Governor&) = delete;
  Governor& operator=(const Governor&) = delete;

  // One means that the frequency cannot be set, and why_not() says why.
  [[nodiscard]] unsigned p_states() const { return static_cast<unsigned>(khz_.size()); }
  // Speed of each P-state relative to the fastest. The turbo range counts as its nominal frequency.
  [[nodiscard]] std::array<float, 32> speed() const;
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  [[nodiscard]] const std::string& driver() const { return driver_; }
  [[nodiscard]] const std::vector<unsigned>& khz() const { return khz_; }
  [[nodiscard]] bool turbo() const { return turbo_; }
  [[nodiscard]] unsigned p_state() const { return current_; }
  [[nodiscard]] std::uint64_t writes() const { return writes_.get(); }
  [[nodiscard]] std::uint64_t errors() const { return refused_writes_.get() + not_given_back_.get(); }

  // On the worker's thread, when the policy asks for a P-state: writes once, unless it is in force already. A refused
  // write is counted, and for kPatienceUs only a faster P-state is tried. Returns false if it is not in force, so the
  // worker asks again.
  [[nodiscard]] bool take(unsigned p_state, std::uint64_t now) {
    const unsigned wanted = std::min(p_state, p_states() - 1);
    if (wanted == current_ && settled_) return true;
    return (now >= next_write_ || wanted < refused_) && write(wanted, now);
  }

  // The kernel then avoids sleep states from which the core needs longer to wake up. The error says why that is not
  // possible.
  [[nodiscard]] Expected<void> bound_wake_up(unsigned us);
  void free_wake_up();  // removes that bound

  // Restores everything. Values that cannot be restored are counted, and stay for `splitplane power restore`.
  void give_back();

  static constexpr std::uint64_t kPatienceUs = 1'000'000;

 private:
  Expected<void> begin();
  [[nodiscard]] bool write(unsigned p_state, std::uint64_t now);

  GovernorSettings settings_;
  std::string why_not_, driver_;
  std::vector<unsigned> khz_{0};
  bool turbo_ = false;
  std::unique_ptr<Backend> backend_;
  std::optional<Loan> wake_up_;
  std::atomic<unsigned> current_{0};  // the worker's thread writes it
  bool settled_ = true;               // otherwise a write was refused since: one of two limits may have moved
  unsigned refused_ = 0;              // the P-state of the refused write
  std::uint64_t next_write_ = 0;
  Counter writes_, refused_writes_;  // the worker's thread writes these
  Counter not_given_back_;           // the control thread writes this
};

}  // namespace splitplane::governor

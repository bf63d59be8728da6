// The frequency of one worker's core, set by sysfs, and how deep the core may sleep. Taken when a worker's policy asks
// for it and given back at the end; where nothing can be set it says why, and the worker runs all the same.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/counter.h"
#include "power/governor/frequencies.h"
#include "power/governor/loan.h"

namespace splitplane::governor {

struct GovernorSettings {
  std::string root = "/sys";
  std::string loans;  // directory for what was before
  unsigned core = 0;
  std::uint64_t ticks_per_us = 1000;  // of the clock of take
};

class Governor {
 public:
  explicit Governor(const GovernorSettings& settings);
  ~Governor() { give_back(); }
  Governor(const Governor&) = delete;
  Governor& operator=(const Governor&) = delete;

  // One: the frequency is not ours to set, and why_not() says why.
  [[nodiscard]] unsigned p_states() const { return static_cast<unsigned>(khz_.size()); }
  // Of each P-state, relative to the fastest; the turbo range counts as its nominal frequency.
  [[nodiscard]] std::array<float, 32> speed() const;
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  [[nodiscard]] const std::string& driver() const { return driver_; }
  [[nodiscard]] const std::vector<unsigned>& khz() const { return khz_; }
  [[nodiscard]] bool turbo() const { return turbo_; }
  [[nodiscard]] unsigned p_state() const { return current_; }
  [[nodiscard]] std::uint64_t writes() const { return writes_.get(); }
  [[nodiscard]] std::uint64_t errors() const { return refused_writes_.get() + not_given_back_.get(); }

  // On the worker's thread, when the policy asks for a P-state: one write, if that is not in force already. One that is
  // refused is counted, and for kPatienceUs only a faster one is tried. False: not in force, so ask again.
  [[nodiscard]] bool take(unsigned p_state, std::uint64_t now) {
    const unsigned wanted = std::min(p_state, p_states() - 1);
    if (wanted == current_ && settled_) return true;
    return (now >= next_write_ || wanted < refused_) && write(wanted, now);
  }

  // The kernel leaves out sleep states from which the core needs longer to wake up. Error: why it cannot be said.
  [[nodiscard]] Expected<void> bound_wake_up(unsigned us);
  void free_wake_up();  // no such bound any more

  // Everything as it was. What cannot be given back is counted, and stays for `splitplane power restore`.
  void give_back();

  static constexpr std::uint64_t kPatienceUs = 1'000'000;

 private:
  Expected<void> begin(const std::string& cpufreq);
  Expected<void> open_limits(const std::string& cpufreq);
  [[nodiscard]] bool write(unsigned p_state, std::uint64_t now);
  [[nodiscard]] bool write_khz(unsigned khz);

  GovernorSettings settings_;
  std::string why_not_, driver_;
  std::vector<unsigned> khz_{0};
  bool turbo_ = false;
  std::optional<Loan> frequency_, wake_up_;
  Descriptor speed_, lowest_, highest_;  // speed_ alone, or the two limits
  unsigned current_ = 0;
  bool settled_ = true;   // else a write was refused since: of two limits one may have moved
  unsigned refused_ = 0;  // the P-state of that write
  std::uint64_t next_write_ = 0;
  Counter writes_, refused_writes_;  // the worker's
  Counter not_given_back_;           // the control thread's
};

}  // namespace splitplane::governor

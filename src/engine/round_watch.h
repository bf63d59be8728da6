// Detects a worker whose loop makes no rounds. Another thread looks at the worker's counter of rounds.
#pragma once

#include <chrono>
#include <cstdint>

namespace splitplane::app {

class RoundWatch {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Says : std::uint8_t {
    kNothing,
    kSilent,       // the worker has made no round for a second
    kStillSilent,  // repeated every 10 s
    kBack,         // the worker makes rounds again
  };

  // Call it several times a second with the number of rounds until now. `busy`: the worker executes a command between
  // two rounds, which may take long.
  Says look(std::uint64_t rounds, bool busy, Clock::time_point now);
  // True if the counter has not moved for several looks. A worker that sleeps long must then be woken, so that it can
  // be told from one that hangs.
  [[nodiscard]] bool wants_wake() const { return still_ >= kLooksBeforeWake; }
  [[nodiscard]] bool silent() const { return silent_; }
  [[nodiscard]] std::chrono::duration<double> silent_for(Clock::time_point now) const {
    return silent_ ? now - moved_ : Clock::duration{};
  }

 private:
  static constexpr std::chrono::seconds kSilentAfter{1}, kSayEach{10};
  static constexpr unsigned kLooksBeforeWake = 2;
  static constexpr unsigned kLooks = 5;  // at least this many, because the looking thread itself may have been stopped

  bool silent_ = false;
  std::uint64_t rounds_ = UINT64_MAX;  // a value that the first look differs from
  unsigned still_ = 0;                 // looks since the counter moved
  Clock::time_point moved_{}, say_next_{};
};

}  // namespace splitplane::app

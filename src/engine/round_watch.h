// Whether a worker's loop goes round: looked at from another thread, by the counter of rounds that it counts anyway.
#pragma once

#include <chrono>
#include <cstdint>

namespace splitplane::app {

class RoundWatch {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Says : std::uint8_t {
    kNothing,
    kSilent,       // it has made no round for a second
    kStillSilent,  // said every 10 s
    kBack,         // it makes rounds again
  };

  // Several times a second, with the number of rounds until now. `busy`: it does what it was asked to between two
  // rounds, which takes its time.
  Says look(std::uint64_t rounds, bool busy, Clock::time_point now);
  // It has not moved for several looks: one that sleeps long is to be woken, so that a look tells it from one that
  // hangs.
  [[nodiscard]] bool wants_wake() const { return still_ >= kLooksBeforeWake; }
  [[nodiscard]] bool silent() const { return silent_; }
  [[nodiscard]] std::chrono::duration<double> silent_for(Clock::time_point now) const {
    return silent_ ? now - moved_ : Clock::duration{};
  }

 private:
  static constexpr std::chrono::seconds kSilentAfter{1}, kSayEach{10};
  static constexpr unsigned kLooksBeforeWake = 2;
  static constexpr unsigned kLooks = 5;  // so many at least: the looker itself may have been stopped

  bool silent_ = false;
  std::uint64_t rounds_ = UINT64_MAX;  // that the first look differs from
  unsigned still_ = 0;                 // looks since it moved
  Clock::time_point moved_{}, say_next_{};
};

}  // namespace splitplane::app

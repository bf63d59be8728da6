// When the guard of one server acts: by the rate of SYNs of unknown sources and the share of them that led to nothing,
// with hysteresis. Pure: numbers of a window in, a decision out.
//
// It arms on SYNs that came 0.2 to 1.2 seconds ago, so that their sources had time to prove themselves: if they were
// arm_syns_per_second at least, and arm_half_open_percent of them proved nothing. A crowd of new clients does not arm
// it. A single window of always_syns_per_second does. It disarms after hold_seconds in which each window was below
// disarm_syns_per_second. A wave that comes again soon finds the hold doubled: for an attack with pauses of up to
// max_hold_seconds the guard ends up armed.
#pragma once

#include <array>
#include <cstdint>

namespace splitplane::guard {

struct ArmingSettings {
  std::uint32_t arm_syns_per_second = 1000;      // of unknown sources
  std::uint32_t arm_half_open_percent = 50;      // of them, that led to no connection
  std::uint32_t always_syns_per_second = 20000;  // arms whatever the share is
  std::uint32_t disarm_syns_per_second = 500;    // below it for hold_seconds: rest again; at most the rate that arms
  std::uint32_t hold_seconds = 10;  // doubles when it arms again within rearm_seconds, up to max_hold_seconds
  std::uint32_t rearm_seconds = 160;
  std::uint32_t max_hold_seconds = 160;
  friend bool operator==(const ArmingSettings&, const ArmingSettings&) = default;
};

class Arming {
 public:
  static constexpr std::uint32_t kWindowMs = 100;
  static constexpr std::uint32_t kProofMs = 200;   // a source has so long to prove itself
  static constexpr std::uint32_t kShareMs = 1000;  // the SYNs of so long are judged
  struct Window {                                  // of one server, since the last call
    std::uint32_t milliseconds = 0;
    std::uint64_t unknown_syns = 0;  // from sources that had not proven themselves
    std::uint64_t new_sources = 0;   // that proved themselves: by a cookie, or by a server that vouched for them
    std::uint64_t capped_syns = 0;  // from known sources above their limit: they count for the rates, not for the share
  };
  explicit Arming(const ArmingSettings& settings);
  // Whether it acts from now on. `now_ms` from any beginning; it never goes back. Windows that are shorter than
  // kWindowMs count together with the next one.
  bool after(const Window& window, std::uint64_t now_ms);
  [[nodiscard]] bool armed() const { return armed_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }              // times that it was armed
  [[nodiscard]] double syns_per_second() const { return last_rate_; }         // of the last window, for people
  [[nodiscard]] double half_open_percent() const { return last_percent_; }    // 0 to 100, of those that are judged
  [[nodiscard]] std::uint32_t hold_seconds() const { return hold_seconds_; }  // in force now
  // Armed or not stays as it is.
  void set(const ArmingSettings& settings);

 private:
  // As many as can reach into the time that is judged, and one.
  static constexpr std::size_t kHistory = (kProofMs + kShareMs) / kWindowMs + 1;

  void look_back();
  void arm(std::uint64_t now_ms);

  ArmingSettings settings_;
  std::array<Window, kHistory> history_{};
  std::size_t newest_ = 0;
  Window pending_;  // shorter than kWindowMs yet
  double judged_rate_ = 0, last_rate_ = 0, last_percent_ = 0;
  bool armed_ = false;
  std::uint64_t events_ = 0;
  std::uint32_t hold_seconds_;
  std::uint64_t busy_ms_ = 0;      // while armed: the last window that was not below the rate that disarms
  std::uint64_t disarmed_ms_ = 0;  // once events_ is not 0
};

}  // namespace splitplane::guard

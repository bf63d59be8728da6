// When the guard of one server acts: by the rate of SYNs of unknown sources and the share of them that led to nothing,
// with hysteresis. Pure: numbers of a window in, a decision out.
#pragma once

#include <cstdint>

namespace splitplane::guard {

struct ArmingSettings {
  std::uint32_t arm_syns_per_second = 1000;    // of unknown sources
  std::uint32_t arm_half_open_percent = 50;    // of them, that led to no connection
  std::uint32_t always_syns_per_second = 20000;  // arms whatever the share is
  std::uint32_t disarm_syns_per_second = 500;  // below it for hold_seconds: rest again
  std::uint32_t hold_seconds = 10;             // doubles when it arms again within rearm_seconds, up to max_hold_seconds
  std::uint32_t rearm_seconds = 60;
  std::uint32_t max_hold_seconds = 160;
};

class Arming {
 public:
  static constexpr std::uint32_t kWindowMs = 100;
  struct Window {  // of one server, since the last call
    std::uint32_t milliseconds = 0;
    std::uint64_t unknown_syns = 0;  // from sources that had not proven themselves
    std::uint64_t new_sources = 0;   // that proved themselves: by a cookie, or by a server that vouched for them
  };
  explicit Arming(const ArmingSettings& settings);
  // Whether it acts from now on. `now_ms` from any beginning.
  bool after(const Window& window, std::uint64_t now_ms);
  [[nodiscard]] bool armed() const;
  [[nodiscard]] std::uint64_t events() const;             // times that it was armed
  [[nodiscard]] double syns_per_second() const;           // of the last window, for people
  [[nodiscard]] double half_open_percent() const;
  [[nodiscard]] std::uint32_t hold_seconds() const;       // in force now
  void set(const ArmingSettings& settings);

 private:
  ArmingSettings settings_;
};

}  // namespace splitplane::guard

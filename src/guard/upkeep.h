// What a worker of the guard does by time: every 100 ms it decides for each server whether its guard acts, ages a part
// of the tables, and copies their numbers into the statistics. From time to time it takes a new key.
#pragma once

#include "guard/guard_context.h"

namespace splitplane::guard {

class Upkeep {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  // `now` is the time from which the first window counts.
  Upkeep(WorkerGuard& guard, const GuardTime& now)
      : guard_(guard), last_ms_(now.milliseconds), key_ms_(now.milliseconds) {}

  [[nodiscard]] bool is_due(const GuardTime& now) const { return now.milliseconds - last_ms_ >= Arming::kWindowMs; }
  void run(const GuardTime& now);

  // The time, in milliseconds, at which run() has something to decide although no packet comes: while a server's guard
  // acts, or a window has SYNs. Else kNever: a sleeping worker is not woken.
  [[nodiscard]] std::uint64_t next_ms() const;

  // Shows of every server whether its guard acts; after a command has changed the rules, too.
  void show_servers();

 private:
  // Parts of a table that one window ages, and the most that it may: a round must stay short.
  static constexpr unsigned kWindowsPerSweep = 100, kMostBuckets = 1024;

  void rotate_keys(std::uint64_t now_ms);
  void sweep(std::uint32_t now);
  void show_tables();

  WorkerGuard& guard_;
  std::uint64_t last_ms_, key_ms_;
};

}  // namespace splitplane::guard

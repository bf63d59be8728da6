// The one flag that ends `run`, `ue`, `phy` and the other programs that serve: set by SIGINT, SIGTERM, SIGHUP, the
// control method stop, or the end of --duration.
#pragma once

#include <atomic>
#include <chrono>

namespace splitplane::app {

class StopFlag {
 public:
  // The flag that signals set; one per process.
  static StopFlag& instance();
  // From now on SIGINT, SIGTERM and SIGHUP set the flag. Further signals change nothing, because the process is already
  // ending. SIGHUP stays ignored if it was (nohup).
  void catch_signals();
  // Before the process becomes another program: from now on these signals end it at once. A flag that is set is for the
  // caller to look at afterwards, because the next program does not see it.
  void leave_signals();
  void request() { requested_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool requested() const { return requested_.load(std::memory_order_relaxed); }
  // Sleeps until the flag is set or `duration` is over. Returns true if it is set.
  bool wait_for(std::chrono::duration<double> duration) const;

 private:
  std::atomic<bool> requested_{false};
  static_assert(std::atomic<bool>::is_always_lock_free);  // a signal handler writes it
};

}  // namespace splitplane::app

// The thread of a packet loop: an lcore of DPDK's. A program makes one for each loop, and ends the loop by a flag of
// its own before it calls join().
#pragma once

#include <time.h>

#include <atomic>
#include <functional>
#include <string>

#include "power/policy.h"
#include "runtime/config/schedule.h"

namespace splitplane::app {

struct LoopThread {
  // Runs `loop` on the lcore's thread, under this schedule. `name` is for messages. False: the thread does not start.
  [[nodiscard]] bool start(unsigned lcore, std::string name, const ScheduleConfig& schedule,
                           std::function<void()> loop);
  // Waits until the loop has returned. What its thread wrote is seen from here on.
  void join();
  // CPU time of the thread; any thread may ask.
  [[nodiscard]] power::Ticks cpu_cycles() const;

  std::atomic<bool> running{false};  // from start() to join(); any thread may look

 private:
  static int entry(void* self);

  unsigned lcore_ = 0;
  std::string name_;
  ScheduleConfig schedule_;
  std::function<void()> loop_;
  std::atomic<clockid_t> clock_{CLOCK_THREAD_CPUTIME_ID};  // of the thread, as long as it runs
  std::atomic<power::Ticks> cpu_at_end_{0};
};

}  // namespace splitplane::app

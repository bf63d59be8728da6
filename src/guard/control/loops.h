// The packet loops of a running guard: a thread, a queue of each port, tables and counters each. All calls come from
// the control side, one at a time.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "guard/config/config.h"
#include "guard/guard_worker.h"
#include "runtime/loop_power.h"
#include "runtime/loop_thread.h"

namespace splitplane::app {

struct GuardLoop {
  std::string name;
  unsigned core = 0;
  ScheduleConfig schedule;
  power::Settings policy;  // in force
  double slow_clock = 1;
  std::unique_ptr<governor::Governor> governor;
  LoopThread thread;
  std::unique_ptr<guard::GuardWorker> worker;
};

class GuardLoops {
 public:
  explicit GuardLoops(const std::string& sysfs_root) : sysfs_root_(sysfs_root) {}
  ~GuardLoops() { stop(); }
  GuardLoops(const GuardLoops&) = delete;
  GuardLoops& operator=(const GuardLoops&) = delete;

  // Before launch().
  void add(const GuardWorkerConfig& config, std::unique_ptr<guard::GuardWorker> worker);
  [[nodiscard]] Expected<void> launch();
  // Ends the loops; counters stay readable and are exact from then on.
  void stop();

  [[nodiscard]] std::size_t size() const { return loops_.size(); }
  [[nodiscard]] GuardLoop& operator[](std::size_t i) { return loops_[i]; }
  // Executes a command on the loop's thread between two rounds, or here if the loop does not run. Error: the loop does
  // not answer; the command is then taken back.
  [[nodiscard]] Expected<void> execute(std::size_t i, const std::function<void(guard::WorkerGuard&)>& command);
  // On all of them, one after the other, up to the first that does not answer.
  [[nodiscard]] Expected<void> on_all(const std::function<void(GuardLoop&, guard::WorkerGuard&)>& command);
  [[nodiscard]] LoopPower power_of(std::size_t i);

 private:
  const std::string& sysfs_root_;
  std::deque<GuardLoop> loops_;
};

}  // namespace splitplane::app

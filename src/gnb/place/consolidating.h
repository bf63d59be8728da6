// On how many cores the workers of a running instance run: it looks at their load ten times a second, decides
// (placement/decision/consolidation.h), and parks or wakes one worker at a time, while packets pass. It has a thread.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gnb/control/parts.h"
#include "placement/decision/consolidation.h"

namespace splitplane::gnb {

class Consolidating {
 public:
  // The parts outlive it.
  Consolidating(Parts& parts, const placement::ConsolidationSettings& settings)
      : parts_(parts), settings_(settings), consolidation_(settings) {}
  ~Consolidating() { stop(); }
  Consolidating(const Consolidating&) = delete;
  Consolidating& operator=(const Consolidating&) = delete;

  void start();
  void stop();
  // If it is switched off, the workers that it has parked come back to their cores.
  void set(const placement::ConsolidationSettings& settings);

  // By hand, as long as it is switched off: the core of `worker` sleeps, and that of `host` makes its rounds.
  Expected<void> park(const std::string& worker, const std::string& host);
  Expected<void> wake(const std::string& worker);

  struct Counters {
    std::uint64_t parked = 0, woken = 0, not_parked = 0;
    std::uint64_t longest_us = 0;  // that a change took; packets of the worker waited in its queues for less
  };
  [[nodiscard]] Counters counters() const;
  struct Row {
    std::string worker;
    unsigned core = 0;
    std::string host;            // whose core makes its rounds; empty: its own
    bool is_stuck = false;       // no core makes them: the thread that should hangs, or gets no CPU time
    std::optional<double> busy;  // what its packets took of a core's time in the last look, if it is switched on
  };
  [[nodiscard]] std::vector<Row> rows() const;

 private:
  using Step = placement::ConsolidationStep;
  void run();
  [[nodiscard]] bool has_work() const;
  void look();
  // It has a core of its own, and serves bearers there.
  [[nodiscard]] bool takes_part(const WorkerRuntime& worker) const;
  // Empty: not at any time before.
  [[nodiscard]] std::vector<placement::LoopFacts> facts(const Locked& locked);
  Expected<void> carry_out(const Locked& locked, WorkerRuntime& guest, WorkerRuntime* host);

  Parts& parts_;
  mutable std::mutex mutex_;  // of all below; before the mutex of the control side
  std::condition_variable changed_;
  bool stop_ = false;
  placement::ConsolidationSettings settings_;
  placement::Consolidation consolidation_;
  std::set<const WorkerRuntime*> by_hand_;  // parked so
  std::vector<std::uint64_t> seen_busy_;    // by worker: cycles at the last look
  std::vector<double> busy_;                // by worker, in the last look
  std::uint64_t seen_at_ = 0;               // of the time stamp counter; 0: no look yet
  mutable std::mutex counters_mutex_;       // of the counters, which are read with the mutex of the control side held
  Counters counters_;
  std::thread thread_;
};

}  // namespace splitplane::gnb

// A worker of the guard: a thread between one receive queue of the client side's port and one of the server side's,
// with its tables, counters and mailbox. Several workers share the two ports by RSS on both IP addresses.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string_view>

#include "base/expected.h"
#include "engine/endpoints.h"
#include "engine/mailbox.h"
#include "engine/stats.h"
#include "engine/worker_power.h"
#include "guard/guard_context.h"
#include "guard/guard_function.h"

namespace splitplane::guard {

class GuardWorker {
 public:
  using Function = GuardFunction<datapath::EthSource, datapath::EthSink>;

  // Starts the loop on a thread, false if it cannot; and waits until the loop has returned.
  struct Thread {
    std::function<bool(std::function<void()> loop)> start;
    std::function<void()> join;
  };
  // An lcore of DPDK's.
  [[nodiscard]] static Thread on_lcore(unsigned lcore);

  // `memory` outlives the worker.
  GuardWorker(const GuardSettings& settings, const GuardMemory& memory, const Function::Ends& ends);
  ~GuardWorker() { stop(); }
  GuardWorker(const GuardWorker&) = delete;
  GuardWorker& operator=(const GuardWorker&) = delete;

  [[nodiscard]] Expected<void> start(Thread thread);
  void stop();

  // Executes a command on the worker's thread between two rounds, or on this thread while the worker does not run.
  // False: the worker does not answer; the command is then taken back.
  [[nodiscard]] bool execute(const std::function<void(WorkerGuard&)>& command);
  // As WorkerGuard's, by execute(). Workers that get the same commands in the same order give a rule the same index.
  Expected<std::uint16_t> put_server(const ServerRule& rule);
  Expected<void> remove_server(std::string_view name);

  // In execute() only, or before start().
  [[nodiscard]] datapath::WorkerPower& power() { return power_; }
  [[nodiscard]] const GuardStats& stats() const { return guard_.stats; }
  [[nodiscard]] const datapath::WorkerStats& worker_stats() const { return worker_stats_; }
  [[nodiscard]] const GuardSettings& settings() const { return guard_.settings; }

 private:
  WorkerGuard guard_;
  Function function_;
  datapath::WorkerStats worker_stats_;
  datapath::WorkerPower power_;
  datapath::Mailbox mailbox_{&power_.wakeup()};
  std::atomic<bool> stop_{false};
  std::atomic<bool> running_{false};
  Thread thread_;
};

}  // namespace splitplane::guard

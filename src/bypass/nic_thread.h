// The soft NIC and the traffic at the end of its link, on one thread. The thread goes through the phases of a run: warm
// up, measure, and wait for packets under way. It samples the counters at the edges of the measured time, so no figure
// contains another phase.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "base/idle_rounds.h"
#include "bypass/bench_wire.h"
#include "bypass/scenario.h"

namespace splitplane::bypass {

// CPU time of the calling thread.
[[nodiscard]] double thread_cpu_seconds();

class NicThread {
 public:
  struct Hooks {
    // Totals so far: drops of driver and NIC, CPU time, tail writes, and packets in both directions.
    std::function<std::uint64_t()> lost;
    std::function<double()> cpu_seconds;
    std::function<std::uint64_t()> doorbells, packets;
  };

  using Step = std::function<std::uint32_t(std::uint64_t now_ns)>;  // one round of the NIC; packets moved

  NicThread(const Scenario& scenario, Step step, BenchWire& wire, Hooks hooks)
      : scenario_(scenario), step_(std::move(step)), wire_(wire), hooks_(std::move(hooks)) {}
  ~NicThread() { cancel(), join(); }
  NicThread(const NicThread&) = delete;
  NicThread& operator=(const NicThread&) = delete;

  void start();
  // The measured time ends now.
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool is_measuring() const { return measuring_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool is_done() const { return done_.load(std::memory_order_acquire); }
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  // After it is done: why it ended early, if it did (a GPU that failed during a copy), and what the thread counted.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  void fill(Result& result) const;

 private:
  struct Edge {
    std::uint64_t at_ns = 0, received = 0, octets = 0, doorbells = 0, packets = 0;
    double nic_cpu = 0, driver_cpu = 0;
  };
  void run();
  void turn(std::uint64_t now);
  void drain();
  // Of all traffic so far: packets that were sent and have neither come back nor been counted as lost.
  [[nodiscard]] std::int64_t missing() const;
  [[nodiscard]] Edge edge(std::uint64_t now) const;

  Scenario scenario_;
  Step step_;
  BenchWire& wire_;
  Hooks hooks_;
  std::thread thread_;
  std::string failure_;
  std::atomic<bool> cancelled_{false}, measuring_{false}, done_{false};
  Edge first_, last_;
  IdleRounds idle_;
  std::uint64_t due_ = 0;  // due packets of the measured traffic at its end
};

}  // namespace splitplane::bypass

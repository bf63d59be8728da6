// A generator, a sink or both in one process: DPDK, ports, buffers, one thread each (one for both when they share a
// core), and how they end.
#pragma once

#include <rte_launch.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "engine/eal.h"
#include "engine/port.h"
#include "runtime/resources.h"
#include "traffic/config/config.h"
#include "traffic/control/options.h"
#include "traffic/control/report.h"
#include "traffic/packet_maker.h"
#include "traffic/replay.h"

namespace splitplane::app {

class TrafficRun {
 public:
  // Builds everything and starts nothing. Error: one sentence.
  [[nodiscard]] static Expected<std::unique_ptr<TrafficRun>> make(const TrafficConfig& config,
                                                                  const TrafficOptions& options);
  // The same with DPDK running and an lcore for each thread. Without `eal` its owner is another object.
  [[nodiscard]] static Expected<std::unique_ptr<TrafficRun>> make_on(std::optional<datapath::Eal> eal,
                                                                     const TrafficConfig& config,
                                                                     const TrafficOptions& options);
  ~TrafficRun() { stop(); }
  TrafficRun(const TrafficRun&) = delete;
  TrafficRun& operator=(const TrafficRun&) = delete;

  // Waits for the ports' links, then starts the sink's thread, then the generator's.
  void start();
  void stop();

  // Everything was sent, or the time is over; always true without a generator.
  [[nodiscard]] bool generated() const { return !has_generator() || done_.load(std::memory_order_acquire); }
  // Nothing came to the sink for its idle time; without one, for a moment after the generator of this process was
  // done. Without a sink that moment passes too: memif forgets what its peer has not read when we close it.
  [[nodiscard]] bool received(std::chrono::steady_clock::time_point now);
  [[nodiscard]] bool has_generator() const { return !std::holds_alternative<std::monostate>(generator_); }
  [[nodiscard]] bool has_sink() const { return sink_ != nullptr; }

  // Any time; exact after stop().
  [[nodiscard]] const traffic::GeneratorStats& generator_stats() const;
  [[nodiscard]] std::uint64_t sink_stamped() const { return sink_->stamped(); }
  // After stop().
  [[nodiscard]] GeneratorView generator() const;
  // Numbers each flow's packets; none with a replay, or without a generator.
  [[nodiscard]] const traffic::PacketMaker* packets() const { return packets_ ? &*packets_ : nullptr; }
  [[nodiscard]] const traffic::Sink& sink() const { return *sink_; }

 private:
  template <class Maker>
  using Owned = std::unique_ptr<traffic::Generator<Maker>>;

  TrafficRun(const TrafficConfig& config, std::optional<datapath::Eal> eal) : config_(config), eal_(std::move(eal)) {}
  [[nodiscard]] Expected<void> open_port(const PortConfig& config);
  [[nodiscard]] Expected<void> make_generator(const TrafficOptions& options);
  void make_sink();
  [[nodiscard]] datapath::Port& port(const std::string& name);
  template <class Maker>
  void loop(traffic::Generator<Maker>* generator, traffic::Sink* sink);
  void launch(unsigned lcore, int (*function)(void*));
  static int run_generator(void* self);
  static int run_sink(void* self);
  static int run_both(void* self);

  const TrafficConfig config_;
  std::optional<datapath::Eal> eal_;
  std::vector<Pool> pools_;
  std::vector<std::unique_ptr<datapath::Port>> ports_;
  std::optional<traffic::PacketMaker> packets_;
  std::optional<traffic::Replay> replay_;
  std::variant<std::monostate, Owned<traffic::PacketMaker>, Owned<traffic::Replay>> generator_;
  std::unique_ptr<traffic::Sink> sink_;
  std::uint32_t run_ = 0;
  std::uint64_t duration_ns_ = 0;

  std::atomic<bool> stop_{false}, done_{false};
  bool running_ = false;
  std::uint64_t last_seen_ = 0;
  std::chrono::steady_clock::time_point last_change_{};
};

}  // namespace splitplane::app

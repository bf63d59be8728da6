// One worker of the running user plane: its loop, its thread's stop flag and mailbox, and what it owns.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "engine/round_watch.h"
#include "engine/tap_lane.h"
#include "engine/worker_power.h"
#include "gnb/datapath/make_loop.h"
#include "power/governor/governor.h"
#include "runtime/resources.h"

namespace splitplane::app {

// A UPF that a worker sends to; its place in the worker's table is free again when the last bearer towards it is gone.
struct UpfPeer {
  IpAddress upf;
  std::size_t bearers = 0;
};

struct WorkerRuntime {
  WorkerConfig config;
  unsigned lcore = 0;
  bool running = false;
  power::Ticks cpu_at_end = 0;                        // CPU time of its thread, once that has left the loop
  bool drains_copies = true;                          // gnb: no worker of its own consumes them
  std::unique_ptr<governor::Governor> core_governor;  // while the policy sets the core's frequency
  datapath::WorkerPower power;
  datapath::Mailbox mailbox{&power.wakeup()};
  std::atomic<bool> stop{false};
  std::atomic<bool> commanded{false};            // it does what it was asked to between two rounds
  std::atomic<std::uint64_t> silent_seconds{0};  // it has made no round for so long; 0: it makes them
  RoundWatch watch;                              // the control thread's
  datapath::WorkerLoop loop;
  std::unique_ptr<datapath::GnbContext> gnb;            // function gnb
  std::unique_ptr<datapath::DispatchContext> dispatch;  // function dispatch
  datapath::WorkerStats other_stats;                    // the other functions
  datapath::WorkerRings rings;                          // gnb behind a dispatching worker: where its packets come from
  std::vector<DpdkArray<std::byte>> key_memory;         // of the foreign keys' tables
  std::map<std::string, datapath::TapPoint> taps;       // its ends of the ports that it uses, by port name
  std::vector<UpfPeer> peers;                           // gnb: UPFs by PeerId

  [[nodiscard]] datapath::ForeignKeys* keys() {
    if (gnb) return &gnb->keys;
    return dispatch ? &dispatch->keys : nullptr;
  }
  [[nodiscard]] datapath::WorkerStats& stats() {
    if (gnb) return gnb->stats;
    return dispatch ? dispatch->stats : other_stats;
  }

  // Does something on the worker's own thread, or here as long as it does not run.
  // Of one that makes no rounds (see RoundWatch) nothing is asked; one that has stopped since then is waited for as
  // long as it takes to see that.
  [[nodiscard]] bool execute(const std::function<void()>& command) {
    if (!running) {
      command();
      return true;
    }
    if (silent_seconds.load(std::memory_order_relaxed) != 0) return false;
    return mailbox.execute(
        [&] {
          commanded.store(true, std::memory_order_relaxed);
          command();
          commanded.store(false, std::memory_order_relaxed);
        },
        kPatience);
  }
  static constexpr std::chrono::milliseconds kPatience{1000};
};

}  // namespace splitplane::app

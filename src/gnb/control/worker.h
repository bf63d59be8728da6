// One worker of the running user plane: its loop, its thread's stop flag and mailbox, and what it owns.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/lodging.h"
#include "engine/round_watch.h"
#include "engine/tap_lane.h"
#include "engine/worker_power.h"
#include "gnb/config/config.h"
#include "gnb/datapath/make_loop.h"
#include "power/governor/governor.h"
#include "runtime/loop_thread.h"
#include "runtime/resources.h"

namespace splitplane::gnb {

using namespace app;  // config, control, observe and runtime are still there

using Time = std::chrono::steady_clock::time_point;

// UPFs by number, with how many bearers go to each. A number is free again when the last bearer towards its UPF is
// gone.
class UpfNumbers {
 public:
  struct Row {
    IpAddress upf;
    std::size_t bearers = 0;  // 0: the number is free
  };

  // The number of a UPF that has bearers.
  [[nodiscard]] std::optional<std::size_t> find(const IpAddress& upf) const {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].bearers != 0 && rows_[i].upf == upf) return i;
    }
    return std::nullopt;
  }
  // A number below `limit` that no UPF has; nothing: all are in use.
  [[nodiscard]] std::optional<std::size_t> free_below(std::size_t limit) const {
    std::size_t place = rows_.size();
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].bearers == 0) place = i;
    }
    return place < limit ? std::optional(place) : std::nullopt;
  }
  // One bearer more, towards a UPF that has this number from now on. True: it is the first.
  bool join(std::size_t number, const IpAddress& upf) {
    if (number >= rows_.size()) rows_.resize(number + 1);
    rows_[number].upf = upf;
    return rows_[number].bearers++ == 0;
  }
  // One bearer less. The number, if that was the last bearer towards this UPF.
  std::optional<std::size_t> leave(const IpAddress& upf) {
    const auto number = find(upf);
    return number && --rows_[*number].bearers == 0 ? number : std::nullopt;
  }
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }

 private:
  std::vector<Row> rows_;
};

struct WorkerRuntime {
  static constexpr std::chrono::milliseconds kPatience{1000};

  WorkerConfig config;
  unsigned lcore = 0;
  LoopThread thread;
  std::atomic<WorkerRuntime*> host{nullptr};          // whose thread makes its rounds; nullptr: its own does
  bool drains_copies = true;                          // gnb: no other worker consumes them
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
  std::vector<DpdkArray<std::byte>> key_memory;         // of the tables for bearer lookup
  std::map<std::string, datapath::TapPoint> taps;       // its ends of the ports that it uses, by port name
  UpfNumbers upfs;                                      // gnb: by PeerId

  std::recursive_mutex instead_of_rounds_;  // of those who do something here while it does not run

  [[nodiscard]] datapath::BearerLookup* keys() {
    if (gnb) return &gnb->keys;
    return dispatch ? &dispatch->keys : nullptr;
  }
  [[nodiscard]] datapath::WorkerStats& stats() {
    if (gnb) return gnb->stats;
    return dispatch ? dispatch->stats : other_stats;
  }

  // Does something on the thread that makes the worker's rounds, or here as long as it does not run.
  // Of one that makes no rounds (see RoundWatch) nothing is asked; one that has stopped since then is waited for as
  // long as it takes to see that.
  [[nodiscard]] bool execute(const std::function<void()>& command, std::chrono::milliseconds patience = kPatience) {
    if (!thread.running) {
      const std::lock_guard one_at_a_time(instead_of_rounds_);
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
        patience);
  }
};

}  // namespace splitplane::gnb

// The buffering service on one core: the windows of what gNB workers sent to acknowledged bearers (ran/rlc/am_retx.h).
// It takes messages from the workers' rings, acts on STATUS PDUs and timers, and tells the workers what to send again
// and what they may give back. It is a function of the worker loop (engine/worker.h).
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "baas/counters.h"
#include "baas/kept.h"
#include "baas/numbered.h"
#include "baas/protocol.h"
#include "base/timer_wheel.h"
#include "engine/burst.h"
#include "engine/idle.h"
#include "engine/probe.h"
#include "ran/intrusive_queue.h"
#include "ran/rlc/am_retx.h"

namespace splitplane::baas {

using ran::rlc::Time;

class Buffering {
 public:
  struct Settings {
    std::vector<Channel> channels;   // one from each worker
    std::size_t max_copies = 16384;  // SDUs of all bearers together
    std::uint64_t ticks_per_ms = 1;
    std::uint64_t now = 0;
  };
  using Counters = BufferingCounters;

  // The messages of one worker. A burst of it is what was received from the ring last.
  class Queue {
   public:
    explicit Queue(const Channel& channel) : channel_(channel) {}

    unsigned receive(datapath::Burst& burst) {
      return burst.size = count_ = baas::receive(channel_.to_service, in_.data(), kAtOnce);
    }
    // Messages of a worker that goes on after the service has ended are void.
    unsigned take_left(datapath::Burst& burst) { return burst.size = 0; }
    [[nodiscard]] int waiting() const { return static_cast<int>(rte_ring_count(channel_.to_service)); }
    [[nodiscard]] unsigned entries() const { return rte_ring_get_capacity(channel_.to_service); }
    [[nodiscard]] datapath::WakeSource wake_source() const {
      return {wakes_ ? datapath::WakeSource::Kind::ring : datapath::WakeSource::Kind::none};
    }

   private:
    friend class Buffering;
    static constexpr unsigned kAtOnce = datapath::kBurst;

    Channel channel_;
    bool wakes_ = true;  // its worker can
    unsigned count_ = 0;
    std::array<Message, kAtOnce + kMostElements> in_;  // a STATUS PDU that began in a burst is completed behind it
  };

  Buffering(const Settings& settings, datapath::WorkerStats& stats);
  Buffering(const Buffering&) = delete;
  Buffering& operator=(const Buffering&) = delete;

  std::vector<Queue>& queues() { return queues_; }
  // The workers cannot wake this loop: it never sleeps longer than kBlindSleepMs. Before the loop runs.
  void nobody_wakes();
  void process(Queue& queue, datapath::Burst& burst);
  // Once per round: timers, retransmissions, and what the workers may give back.
  void flush();
  [[nodiscard]] std::uint64_t next_work(std::uint64_t now) const {
    if (!working_.empty() || has_refused()) return now;
    return std::min(wheel_.next_turn(), now + longest_sleep_);
  }

  [[nodiscard]] const Counters& counters() const { return counters_; }
  // SDUs in all windows.
  [[nodiscard]] std::uint64_t held() const { return held_; }
  [[nodiscard]] bool balanced() const { return baas::balanced(counters_, held_); }
  // held(), added up anew. It looks at every bearer, so it is for a loop that has ended.
  [[nodiscard]] std::uint64_t held_in_windows() const;
  // Called after messages to worker `lane` are visible.
  std::function<void(std::size_t lane)> wake;

 private:
  static constexpr unsigned kTimersPerRound = 64, kBearersPerRound = 64, kReleasedPerVisit = 192, kSentPerVisit = 32;
  static constexpr std::size_t kPagesForRefused = 64;
  static constexpr std::uint32_t kMostBearers = 1U << 26;  // of a worker: as many as there are lines in all shards

  // What each message needs comes first: these members and those of AmRetx are in kHotLines lines.
  struct alignas(64) Bearer : TimerNode {
    Bearer(const ran::rlc::AmConfig& config, ran::rlc::Memory<Kept>& memory) : retx(config, memory) {}
    std::uint32_t number = 0;
    std::uint32_t next_ack = 0, highest_ack = 0;  // as the worker knows them
    std::uint16_t incarnation = 0, lane = 0;
    bool working = false;
    bool of_card = false;  // a card sends its PDUs
    bool refused = false;  // an SDU found no memory; the worker is asked to tell it again
    bool failed = false;   // the worker was told so
    bool says_max_retx = false, says_peer_lost = false;
    Bearer* next_working = nullptr;
    ran::rlc::AmRetx<Kept> retx;
  };
  static constexpr std::size_t kHotLines = 3;
  // To one worker.
  struct Lane {
    rte_ring* ring = nullptr;
    Numbered<Bearer> bearers;
    bool said = false;
  };

  [[nodiscard]] Bearer* find(std::size_t lane, std::uint32_t number) { return lanes_[lane].bearers.find(number); }
  [[nodiscard]] unsigned take(std::size_t lane, Queue& queue, unsigned i, Time now);
  void open(std::size_t lane, const Message& m);
  void close(std::size_t lane, std::uint32_t number);
  void copy(Bearer& bearer, const Message& m, Time now);
  void set_working(Bearer& bearer) { working_.push(bearer); }
  void rearm(Bearer& bearer) {
    if (bearer.retx.next_expiry() < bearer.expiry) wheel_.arm(bearer, bearer.retx.next_expiry());
  }
  // False: the ring to the worker is full, so the bearer comes again.
  [[nodiscard]] bool serve(Bearer& bearer, Time now);
  [[nodiscard]] bool say(Lane& lane, const Message& m) {
    if (!send(lane.ring, &m, 1)) return false;
    return lane.said = true;
  }
  [[nodiscard]] bool has_refused() const {
    return !refused_.empty() && memory_.sent_pages.available() >= kPagesForRefused;
  }
  // The bearer's window held `before` SDUs, and it says itself how many it holds now.
  void follow_window(const Bearer& bearer, std::uint32_t before) {
    held_ += bearer.retx.held();
    held_ -= before;
  }
  void refuse(Bearer& bearer);
  void ask_refused();

  ran::rlc::Memory<Kept> memory_;
  TimerWheel wheel_;
  std::vector<Queue> queues_;
  std::vector<Lane> lanes_;
  std::vector<Bearer*> refused_;
  ran::IntrusiveQueue<Bearer, &Bearer::next_working, &Bearer::working> working_;
  std::uint64_t ticks_per_ms_;
  std::uint64_t longest_sleep_ = std::uint64_t{1} << 62;  // ticks
  std::uint64_t held_ = 0;
  datapath::WorkerStats& stats_;
  Counters counters_;
  datapath::SampledCycles probe_;
};

}  // namespace splitplane::baas

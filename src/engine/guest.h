// One thread makes the rounds of several loops, so that other cores can sleep. A *guest* is a loop whose rounds another
// worker's thread makes, its *host*; its own thread sleeps meanwhile. Nothing of the guest moves: its queues, bearers,
// timers and rings stay where they are, and one thread at a time touches them. So no packet is lost, doubled or
// overtaken.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/idle.h"
#include "engine/wakeup.h"
#include "power/policy.h"

namespace splitplane::datapath {

class Hosting;

// What a host has of a guest's loop. It stands on the stack of the guest's thread, which waits in Hosting::stay().
class Guest {
 public:
  // `home`: of the guest itself. `stop`: its loop shall end.
  Guest(Hosting& home, Wakeup& wakeup, const std::atomic<bool>& stop, std::vector<WakeSource> sources, unsigned entries)
      : home_(home), wakeup_(wakeup), stop_(stop), sources_(std::move(sources)), entries_(entries) {}
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;
  virtual ~Guest() = default;

  // A round of its loop, with a look into its mailbox. Writes what each queue had to `seen`, and counts the time in its
  // own cycles. Returns the packets.
  virtual unsigned round(std::span<power::QueueRound> seen) = 0;
  // As next_work() in worker.h.
  [[nodiscard]] virtual power::Ticks next_work(power::Ticks now) = 0;

  [[nodiscard]] Hosting& home() const { return home_; }
  [[nodiscard]] Wakeup& wakeup() const { return wakeup_; }
  [[nodiscard]] bool has_to_stop() const { return stop_.load(std::memory_order_relaxed); }
  [[nodiscard]] const std::vector<WakeSource>& sources() const { return sources_; }  // one for each queue
  [[nodiscard]] unsigned entries() const { return entries_; }                        // of its smallest queue

 private:
  Hosting& home_;
  Wakeup& wakeup_;
  const std::atomic<bool>& stop_;
  std::vector<WakeSource> sources_;
  unsigned entries_;
};

// Of each worker: whether its loop is to be a guest, and which guests it has. lodging.h makes the changes.
class Hosting {
 public:
  static constexpr std::size_t kMostGuests = 15;

  // By commands between two rounds of the host. False: there is no room for one more, or for its queues.
  [[nodiscard]] bool take(Guest& guest);
  // It goes home when the host's rounds are over and nothing of it is armed any more: with give_back().
  void send_home(const Guest& guest);

  // By the control thread. The guest's loop ends its rounds soon, as it looks once a round; it has to be interrupted.
  void leave() { leaves_.store(true, std::memory_order_relaxed); }
  // It took too long: the loop goes on by itself, whether it has not left yet, is about to, or has.
  void withdraw();
  // The loop that a host may take now; nullptr: its own thread makes the rounds.
  [[nodiscard]] Guest* offered() const { return offered_.load(std::memory_order_acquire); }
  // No host has taken it: its own thread goes on.
  void taken_back();

  // Of its own loop; any thread may ask.
  [[nodiscard]] unsigned own_queues() const { return own_queues_.load(std::memory_order_relaxed); }

  // By the loop. True once after leave().
  [[nodiscard]] bool leaves() { return leaves_.load(std::memory_order_relaxed) && leaves_.exchange(false); }
  void has_queues(unsigned own) { own_queues_.store(own, std::memory_order_relaxed); }
  // Sleeps as long as `guest`, its own loop, is offered or taken. `rest` makes the core ready for that: it is called
  // first, and each kAsksAgain as long as it returns false.
  static constexpr std::chrono::seconds kAsksAgain{1};
  void stay(Guest& guest, const std::function<bool()>& rest = [] { return true; });
  // Of the guests those that were sent home, or all. The host's loop has ended its rounds.
  void give_back(bool all);
  [[nodiscard]] bool has_guests() const { return guests_ != 0; }
  [[nodiscard]] std::span<Guest* const> guests() const { return std::span(all_).first(guests_); }
  [[nodiscard]] std::size_t queues() const;  // of all guests

 private:
  std::array<Guest*, kMostGuests> all_{};
  std::array<bool, kMostGuests> goes_{};  // home
  std::size_t guests_ = 0;
  std::atomic<unsigned> own_queues_{0};
  std::atomic<bool> leaves_{false}, is_withdrawn_{false};
  std::atomic<Guest*> offered_{nullptr};
  std::atomic<std::uint32_t> homecomings_{0};  // the stay sleeps on this number, because such a sleep may have an end
};

}  // namespace splitplane::datapath

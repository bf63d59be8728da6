// The worker loop, the heart of the user plane. In each round it receives a burst from each queue and runs the function
// on it, flushes, and looks into the mailbox. Then the policy decides how to spend the time until the next round.
#pragma once

#include <rte_cycles.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <type_traits>
#include <utility>

#include "engine/burst.h"
#include "engine/cpu_time.h"
#include "engine/guest.h"
#include "engine/idle.h"
#include "engine/mailbox.h"
#include "engine/worker_power.h"

namespace splitplane::datapath {

// Processes what a queue received ahead and what is left on rings before the loop ends, so that every packet is
// counted.
template <class Function>
void drain(Function& function, Burst& burst, WorkerStats& stats) {
  auto received = stats.received.begin();
  for (auto& queue : function.queues()) {
    Counter& counter = *received++;
    while (queue.take_left(burst) != 0) {
      counter.add(burst.size);
      function.process(queue, burst);
    }
  }
  function.flush();
  if constexpr (requires { function.finish(); }) function.finish();
}

// The time at which the function has work that no packet announces; a time up to `now` means that it has some.
template <class Function>
[[nodiscard]] power::Ticks next_work(Function& function, power::Ticks now) {
  if constexpr (requires { function.next_work(now); }) return function.next_work(now);
  return power::kNever;
}

// What a round saw of each queue, for the policy.
struct QueueLook {
  std::array<power::QueueRound, power::kMaxQueues> seen{};
  std::array<std::uint32_t, power::kMaxQueues> full{};  // full bursts in a row
};
static_assert(kMaxQueues <= power::kMaxQueues, "a worker may have more queues than policies look at");

// What is left in a queue after a full burst. If a driver cannot tell, the estimate is one burst for each full burst in
// a row.
template <class Queue>
[[nodiscard]] std::uint32_t waiting_in(const Queue& queue, std::uint32_t full_in_a_row) {
  if constexpr (requires { queue.waiting(); }) {
    if (const int waiting = queue.waiting(); waiting >= 0) return static_cast<std::uint32_t>(waiting);
  }
  return std::min(full_in_a_row, 64U) * kBurst;
}

// Receives from every queue, runs the function and flushes; returns the number of packets. All policies share this copy
// of the packet path, or one of two: `Looks` also notes what each queue had.
template <bool Looks, class Function>
[[gnu::noinline]] unsigned one_round(Function& function, Burst& burst, WorkerStats& stats, QueueLook& look) {
  unsigned all = 0;
  auto received = stats.received.begin();
  std::size_t q = 0;
  for (auto& queue : function.queues()) {
    const unsigned packets = queue.receive(burst);
    if constexpr (Looks) {
      look.full[q] = packets == kBurst ? look.full[q] + 1 : 0;
      look.seen[q] = {packets, look.full[q] != 0 ? waiting_in(queue, look.full[q]) : 0};
      ++q;
    }
    Counter& counter = *received++;
    if (packets == 0) continue;
    all += packets;
    counter.add(packets);
    function.process(queue, burst);
  }
  if constexpr (std::is_same_v<decltype(function.flush()), unsigned>) return all + function.flush();
  function.flush();
  return all;
}

// The loop of a worker whose rounds another thread makes.
template <class Function>
class GuestOf final : public Guest {
 public:
  GuestOf(Function& function, WorkerPower& power, Mailbox& mailbox, WorkerStats& stats, const std::atomic<bool>& stop,
          std::vector<WakeSource> sources, unsigned entries)
      : Guest(power.hosting(), power.wakeup(), stop, std::move(sources), entries),
        function_(function),
        mailbox_(mailbox),
        stats_(stats),
        queues_(std::size(function.queues())) {}

  unsigned round(std::span<power::QueueRound> seen) override {
    const std::uint64_t begin = rte_rdtsc();
    stats_.asleep_cycles.add(begin - last_);
    const unsigned packets = one_round<true>(function_, burst_, stats_, look_);
    mailbox_.run_pending();
    stats_.rounds.add(1);
    std::copy_n(look_.seen.begin(), queues_, seen.begin());
    last_ = rte_rdtsc();
    (packets != 0 ? stats_.busy_cycles : stats_.idle_cycles).add(last_ - begin);
    return packets;
  }
  [[nodiscard]] power::Ticks next_work(power::Ticks now) override { return datapath::next_work(function_, now); }

 private:
  Function& function_;
  Mailbox& mailbox_;
  WorkerStats& stats_;
  std::size_t queues_;
  Burst burst_;
  QueueLook look_;
  std::uint64_t last_ = rte_rdtsc();
};

// What a round of the guests was.
struct GuestsRound {
  unsigned packets = 0;
  std::uint64_t cycles = 0;
};

// A round of each guest; what its queues had stands in `seen`, one guest behind the other. One that has to stop is sent
// home.
[[gnu::noinline]] inline GuestsRound round_of_guests(WorkerPower& power, std::span<power::QueueRound> seen) {
  GuestsRound all;
  const std::uint64_t begin = rte_rdtsc();
  for (Guest* guest : power.hosting().guests()) {
    all.packets += guest->round(seen);
    seen = seen.subspan(guest->sources().size());
    if (guest->has_to_stop()) [[unlikely]] {
      power.hosting().send_home(*guest);
      power.begin_anew();
    }
  }
  all.cycles = rte_rdtsc() - begin;
  return all;
}

[[nodiscard]] inline power::Ticks next_work_of_guests(WorkerPower& power, power::Ticks now) {
  power::Ticks next = power::kNever;
  for (Guest* guest : power.hosting().guests()) next = std::min(next, guest->next_work(now));
  return next;
}

// Makes rounds until `stop` is set or another policy was chosen. Every cycle counts as busy (the round had packets),
// idle (with pauses) or asleep.
template <class Function, power::Policy Policy>
void run_rounds(Function& function, Policy& policy, WorkerPower& power, Rester& rester, Mailbox& mailbox,
                WorkerStats& stats, const std::atomic<bool>& stop) {
  using power::Rest;
  Burst burst;
  QueueLook look;
  const std::size_t queues = std::size(function.queues()), all_queues = queues + power.hosting().queues();
  const auto next_of_all = [&](power::Ticks now) {
    return std::min(next_work(function, now), next_work_of_guests(power, now));
  };
  std::uint64_t last = rte_rdtsc();
  power::Ticks rested = 0, rest_cpu = 0;
  bool woken = false;
  while (!stop.load(std::memory_order_relaxed) && !power.switched()) {
    power::Round round{.rested = rested, .rest_cpu = rest_cpu, .woken = woken};
    const unsigned own = one_round<Policy::kLooks>(function, burst, stats, look);
    round.packets = own;
    std::uint64_t of_guests = 0;  // cycles, which are theirs
    if (power.hosting().has_guests()) [[unlikely]] {
      const GuestsRound guests = round_of_guests(power, std::span(look.seen).subspan(queues));
      round.packets += guests.packets;
      of_guests = guests.cycles;
    }
    mailbox.run_pending();

    stats.rounds.add(1);
    std::uint64_t now = rte_rdtsc();
    if (round.packets != 0 && power.extra() > 0) [[unlikely]] {
      rester.spin(static_cast<power::Ticks>(static_cast<double>(now - last) * power.extra()));
      now = rte_rdtsc();
    }
    (own != 0 ? stats.busy_cycles : stats.idle_cycles).add(now - last - of_guests);
    if constexpr (Policy::kLooks) {
      round.now = now;
      round.queues = std::span(look.seen.data(), all_queues);
      if (round.packets != 0) {
        round.busy = now - last;
      } else {
        round.next_timer = next_of_all(now);
      }
    }
    last = now;
    rested = rest_cpu = 0;
    woken = false;

    const power::Action action = policy.after(round);
    // The cost of going idle is not charged to a packet.
    const auto charge = [&](Counter& cycles) {
      const std::uint64_t then = std::exchange(last, rte_rdtsc());
      cycles.add(last - then);
      return last - then;
    };
    if (action.p_state != power::Action::kKeep) [[unlikely]] {
      power.take_p_state(action.p_state);
      stats.p_state_changes.add(1);
      charge(stats.idle_cycles);
    }
    power.take_owed();
    if (action.rest == Rest::none) [[likely]] {
      if (rester.armed() == Rester::Armed::nothing) [[likely]]
        continue;
      rester.disarm();
      charge(stats.idle_cycles);
      continue;
    }
    if (action.rest == Rest::pause) {
      rester.disarm();
      rester.pause(action.length);
      rested = charge(stats.idle_cycles);
      stats.pauses.add(1);
      stats.paused_cycles.add(rested);
      continue;
    }
    // Arms first. Then one more round looks at every queue, ring, timer and command before the worker sleeps.
    const auto wanted = action.rest == Rest::interrupt ? Rester::Armed::interrupts : Rester::Armed::kicks;
    if (rester.armed() < wanted) {
      rester.arm(wanted);
      charge(stats.idle_cycles);
      continue;
    }
    if (power.switched()) break;  // a command of that round switched the policy
    power::Ticks length = action.length;
    if constexpr (!Policy::kLooks) {
      const power::Ticks next = next_of_all(now);
      length = std::min(length, next > now ? next - now : 0);
    }
    const power::Ticks cpu = action.metered ? thread_cpu_time() : 0;
    woken = rester.sleep(length);
    if (action.metered) rest_cpu = thread_cpu_time() - cpu;
    rester.disarm();
    rested = charge(stats.asleep_cycles);
    stats.sleeps.add(1);
    stats.wakeups.add(woken ? 1 : 0);
  }
  rester.disarm();
}

// What a worker's queues and its machine offer for sleeping.
template <class Function>
[[nodiscard]] std::vector<WakeSource> look_at_queues(Function& function, power::Machine& machine) {
  std::vector<WakeSource> sources;
  machine.queues = 0;
  machine.ring = UINT32_MAX;
  for (auto& queue : function.queues()) {
    ++machine.queues;
    if constexpr (requires { queue.wake_source(); }) {
      sources.push_back(queue.wake_source());
      machine.ring = std::min(machine.ring, queue.entries());
    } else {
      sources.emplace_back();
    }
  }
  if (machine.ring == UINT32_MAX) machine.ring = kUnknownEntries;
  return sources;
}

// Runs until `stop` is set. A Function has queues(), each with receive(Burst&). For policies a queue also has
// waiting(), entries() and wake_source(). It has process(queue, Burst&) and flush(), which the loop calls once per
// round. flush() may return how many packets it served beside those of the queues. It has next_work(now) if it has work
// that no packet announces.
template <class Function>
void run_worker(Function& function, WorkerPower& power, Mailbox& mailbox, WorkerStats& stats,
                const std::atomic<bool>& stop) {
  power::Machine machine{.ticks_per_us = rte_get_tsc_hz() / 1'000'000, .burst = kBurst};
  Hosting& hosting = power.hosting();
  bool is_measured = false;
  do {
    std::vector<WakeSource> sources = look_at_queues(function, machine);
    hosting.has_queues(machine.queues);
    if (hosting.leaves()) [[unlikely]] {
      hosting.give_back(true);
      GuestOf<Function> guest(function, power, mailbox, stats, stop, sources, machine.ring);
      hosting.stay(guest, [&power, &stats, asked = false]() mutable {
        if (std::exchange(asked, true)) stats.p_state_retries.add(1);
        return power.take_slowest();
      });
    }
    std::vector<Wakeup*> wakeups{&power.wakeup()};
    for (const Guest* guest : hosting.guests()) {
      wakeups.push_back(&guest->wakeup());
      sources.insert(sources.end(), guest->sources().begin(), guest->sources().end());
      machine.queues += static_cast<unsigned>(guest->sources().size());
      machine.ring = std::min(machine.ring, guest->entries());
    }
    Rester rester(std::move(wakeups), sources);
    machine.interrupts = rester.has_interrupts();
    machine.timed_pause = rester.has_timed_pause();
    // A first estimate; a policy learns more as it sleeps. After a long sleep the core may be deeper asleep than after
    // these short ones. Only at the start, because no packet is received meanwhile.
    if (!std::exchange(is_measured, true))
      machine.sleep_overshoot = machine.interrupt_latency = rester.measure_overshoot();
    power.found(machine, rester.without());
    // Runs until another policy is chosen, or the same again because the queues have other devices.
    std::visit([&](auto& policy) { run_rounds(function, policy, power, rester, mailbox, stats, stop); }, power.begin());
    // A guest may arm its wake-ups and interrupts at once; run_rounds() has disarmed them here.
    hosting.give_back(false);
  } while (!stop.load(std::memory_order_relaxed));
  hosting.give_back(true);
  Burst burst;
  drain(function, burst, stats);
}

}  // namespace splitplane::datapath

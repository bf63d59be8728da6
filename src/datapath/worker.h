// The worker loop, the heart of the user plane: for each of its queues receive a burst and run the function, flush,
// look into the mailbox, and let the policy decide how to spend the time until the next round.
#pragma once

#include <rte_cycles.h>
#include <time.h>

#include <atomic>

#include "datapath/burst.h"
#include "datapath/mailbox.h"
#include "power/policy.h"

namespace splitplane::datapath {

// What a queue had received ahead, and what is left on rings, is processed before the loop ends: nothing is left behind
// uncounted.
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

// Runs until `stop` is set. A Function has queues(), each with receive(Burst&); process(queue, Burst&); and flush(),
// called once per round. Every cycle is counted as busy (the round had packets), idle or asleep.
template <class Function, power::Policy Policy>
void run_worker(Function& function, Policy policy, Mailbox& mailbox, WorkerStats& stats,
                const std::atomic<bool>& stop) {
  Burst burst;
  std::uint64_t last = rte_rdtsc();
  while (!stop.load(std::memory_order_relaxed)) {
    power::Round round;
    auto received = stats.received.begin();
    for (auto& queue : function.queues()) {
      const unsigned packets = queue.receive(burst);
      Counter& counter = *received++;
      if (packets == 0) continue;
      round.packets += packets;
      counter.add(packets);
      function.process(queue, burst);
    }
    function.flush();
    mailbox.run_pending();

    stats.rounds.add(1);
    const std::uint64_t now = rte_rdtsc();
    (round.packets != 0 ? stats.busy_cycles : stats.idle_cycles).add(now - last);
    last = now;

    const power::Action action = policy.after(round);
    if (action.sleep.count() == 0) [[likely]]
      continue;
    const timespec pause{.tv_sec = action.sleep.count() / 1'000'000'000,
                         .tv_nsec = action.sleep.count() % 1'000'000'000};
    nanosleep(&pause, nullptr);
    const std::uint64_t woken = rte_rdtsc();
    stats.sleeps.add(1);
    stats.asleep_cycles.add(woken - last);
    last = woken;
  }
  drain(function, burst, stats);
}

}  // namespace splitplane::datapath

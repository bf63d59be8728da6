// The worker loop: rounds, queues, cycles by kind, commands between rounds, and its end; on a real lcore and on
// threads.
#include "engine/worker.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "engine/test_lcore.h"

namespace splitplane::datapath {
namespace {

using namespace std::chrono_literals;

// A function whose queues have a script of packets per round. No mbufs are needed to see what the loop does.
struct Script {
  struct Queue {
    unsigned packets = 0, held = 0;
    unsigned every = 1, round = 0;  // packets come once in this many rounds
    unsigned receive(Burst& burst) { return burst.size = ++round % every == 0 ? packets : 0; }
    unsigned take_left(Burst& burst) { return burst.size = std::exchange(held, 0U); }
  };
  std::vector<Queue> lanes;
  unsigned processed = 0, flushes = 0;
  bool inside = false;

  std::vector<Queue>& queues() { return lanes; }
  void process(Queue&, Burst& burst) {
    inside = true;
    processed += burst.size;
    inside = false;
  }
  void flush() { ++flushes; }
};

power::Settings busy() {
  return {.kind = power::Kind::busy};
}
power::Settings yield(unsigned empty_rounds, std::chrono::microseconds sleep) {
  return {.kind = power::Kind::yield, .yield = {empty_rounds, static_cast<unsigned>(sleep.count())}};
}

// Runs a worker until the end of its scope.
class Running {
 public:
  Running(Script& script, const power::Settings& settings)
      : power(settings), thread_([this, &script] { run_worker(script, power, mailbox, stats, stop_); }) {}
  ~Running() { end(); }
  void end() {
    stop_.store(true);
    power.wakeup().wake();
    if (thread_.joinable()) thread_.join();
  }
  void wait_for_rounds(std::uint64_t n) const {
    const std::uint64_t from = stats.rounds.get();
    while (stats.rounds.get() < from + n) std::this_thread::sleep_for(100us);
  }

  WorkerPower power;
  WorkerStats stats;
  Mailbox mailbox{&power.wakeup()};

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST(Worker, asks_again_for_a_p_state_that_was_refused) {
  Script script{.lanes = {{0}}};
  Running worker(script, busy());
  std::atomic<unsigned> asked{0};
  ASSERT_TRUE(worker.mailbox.execute([&] {
    worker.power.use({.speed = {1, 0.5}, .take = [&](unsigned p_state) { return p_state == 0 && ++asked == 3; }});
    worker.power.set(busy());  // begins with P0
  }));
  worker.wait_for_rounds(100);
  worker.end();
  EXPECT_EQ(asked, 3U) << "until it was in force";
}

TEST(Worker, ends_when_told_and_counts_each_round_once) {
  Script script{.lanes = {{3}, {0}, {5}}};
  Running worker(script, busy());
  worker.wait_for_rounds(100);
  worker.end();
  const std::uint64_t rounds = worker.stats.rounds.get();
  EXPECT_EQ(script.flushes, rounds + 1) << "once more at the end";
  EXPECT_EQ(worker.stats.received[0].get(), 3 * rounds);
  EXPECT_EQ(worker.stats.received[1].get(), 0U);
  EXPECT_EQ(worker.stats.received[2].get(), 5 * rounds);
  EXPECT_EQ(worker.stats.received_total(), script.processed);
}

TEST(Worker, a_stop_before_the_first_round_runs_none) {
  Script script{.lanes = {{1}}};
  WorkerPower power(busy());
  WorkerStats stats;
  Mailbox mailbox;
  const std::atomic<bool> stop{true};
  run_worker(script, power, mailbox, stats, stop);
  EXPECT_EQ(stats.rounds.get(), 0U);
  EXPECT_EQ(script.flushes, 1U);
  EXPECT_EQ(script.processed, 0U);
}

TEST(Worker, what_a_queue_holds_at_the_end_is_processed_and_counted) {
  Script script{.lanes = {{0, 7}, {0, 0}, {0, 32}}};
  WorkerPower power(busy());
  WorkerStats stats;
  Mailbox mailbox;
  const std::atomic<bool> stop{true};
  run_worker(script, power, mailbox, stats, stop);
  EXPECT_EQ(script.processed, 39U);
  EXPECT_EQ(stats.received[0].get(), 7U);
  EXPECT_EQ(stats.received[1].get(), 0U);
  EXPECT_EQ(stats.received[2].get(), 32U);
}

TEST(Worker, every_cycle_is_busy_idle_or_asleep) {
  Script script{.lanes = {{0}}};
  const std::uint64_t begin = rte_rdtsc();
  Running idle(script, busy());
  idle.wait_for_rounds(1000);
  idle.end();
  const std::uint64_t elapsed = rte_rdtsc() - begin;
  EXPECT_EQ(idle.stats.busy_cycles.get(), 0U);
  EXPECT_EQ(idle.stats.asleep_cycles.get(), 0U);
  EXPECT_EQ(idle.stats.sleeps.get(), 0U);
  EXPECT_GT(idle.stats.idle_cycles.get(), 0U);
  EXPECT_LE(idle.stats.idle_cycles.get(), elapsed);

  Script full{.lanes = {{1}}};
  Running yielding(full, yield(2, 1ms));
  yielding.wait_for_rounds(1000);
  yielding.end();
  EXPECT_GT(yielding.stats.busy_cycles.get(), 0U);
  EXPECT_EQ(yielding.stats.idle_cycles.get(), 0U);
  EXPECT_EQ(yielding.stats.sleeps.get(), 0U) << "a round with packets never sleeps";

  // Reads all three counters at once, between two looks from within the loop: no cycle is left out or counted twice.
  Script seldom{.lanes = {{.packets = 1, .every = 5}}};
  Running mixed(seldom, yield(2, 1ms));
  const auto look = [&] {
    std::pair<std::uint64_t, std::uint64_t> at{};  // clock, sum
    EXPECT_TRUE(mixed.mailbox.execute([&] {
      at = {rte_rdtsc(),
            mixed.stats.busy_cycles.get() + mixed.stats.idle_cycles.get() + mixed.stats.asleep_cycles.get()};
    }));
    return at;
  };
  mixed.wait_for_rounds(100);
  const auto before = look();
  std::this_thread::sleep_for(100ms);
  const auto after = look();
  mixed.end();
  const auto clock = static_cast<double>(after.first - before.first);
  EXPECT_NEAR(static_cast<double>(after.second - before.second) / clock, 1, 0.02);
  EXPECT_GT(mixed.stats.asleep_cycles.get(), 0U);
}

TEST(Worker, a_yielding_worker_without_packets_is_mostly_asleep) {
  Script script{.lanes = {{0}}};
  Running worker(script, yield(3, 2ms));
  worker.wait_for_rounds(30);
  worker.end();
  const WorkerStats& s = worker.stats;
  EXPECT_LE(s.sleeps.get(), (s.rounds.get() - 3) / 2) << "one round more before each, to look again";
  EXPECT_GE(s.sleeps.get(), (s.rounds.get() - 4) / 2);
  EXPECT_GT(s.asleep_cycles.get(), 10 * s.idle_cycles.get());
}

TEST(Worker, a_sleep_of_more_than_a_second_is_slept_and_a_kick_ends_it) {
  Script script{.lanes = {{0}}};
  Running worker(script, yield(1, 1100ms));
  const auto begin = std::chrono::steady_clock::now();
  while (worker.stats.sleeps.get() == 0) std::this_thread::sleep_for(1ms);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 1000ms);
  EXPECT_EQ(worker.stats.wakeups.get(), 0U);
  std::this_thread::sleep_for(20ms);  // asleep again
  EXPECT_TRUE(worker.mailbox.execute([] {}, 500ms)) << "a command does not wait for the end of the sleep";
  worker.wait_for_rounds(1);
  EXPECT_GE(worker.stats.wakeups.get(), 1U);
}

TEST(Worker, commands_run_between_rounds_while_packets_flow) {
  Script script{.lanes = {{32}}};
  Running worker(script, busy());
  unsigned last = 0;
  for (int i = 0; i < 50; ++i) {
    bool inside = true;
    unsigned processed = 0;
    ASSERT_TRUE(worker.mailbox.execute([&] {
      inside = script.inside;
      processed = script.processed;
    }));
    EXPECT_FALSE(inside);
    EXPECT_EQ(processed % 32, 0U);
    EXPECT_GT(processed, last) << "the worker went on in between";
    last = processed;
  }
}

TEST(Worker, a_command_given_up_while_the_worker_is_held_up_never_runs) {
  Script script{.lanes = {{1}}};
  Running worker(script, busy());
  std::atomic<bool> held{false}, go_on{false};
  std::thread other([&] {
    EXPECT_TRUE(worker.mailbox.execute(
        [&] {
          held.store(true);
          while (!go_on.load()) std::this_thread::yield();
        },
        60s));
  });
  while (!held.load()) std::this_thread::yield();
  auto runs = std::make_shared<std::atomic<int>>(0);
  EXPECT_FALSE(worker.mailbox.execute([runs] { ++*runs; }, 20ms));
  EXPECT_EQ(runs->load(), 0);
  go_on.store(true);
  other.join();
  EXPECT_TRUE(worker.mailbox.execute([] {}, 60s));
  EXPECT_EQ(runs->load(), 0) << "it was taken back";
}

TEST(Worker, runs_on_an_lcore_of_dpdk) {
  Script script{.lanes = {{7}}};
  WorkerPower power(yield(1, 10us));
  WorkerStats stats;
  Mailbox mailbox;
  std::atomic<bool> stop{false};
  unsigned lcore = 0;
  test::OnLcore worker(1, [&] {
    lcore = rte_lcore_id();
    run_worker(script, power, mailbox, stats, stop);
  });
  ASSERT_TRUE(worker.launched());
  EXPECT_TRUE(mailbox.execute([] {}, 20s));
  stop.store(true);
  worker.wait();
  EXPECT_EQ(lcore, 1U);
  EXPECT_EQ(stats.received_total(), 7 * stats.rounds.get());
}

}  // namespace
}  // namespace splitplane::datapath

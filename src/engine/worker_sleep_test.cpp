// A worker that sleeps: each source of work ends the sleep, in time, every time. Packets come one at a time, each after
// the previous one was taken. So a missed wake-up is not hidden by the next packet: it lasts a second.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "engine/endpoints.h"
#include "engine/test_environment.h"
#include "engine/test_lcore.h"
#include "engine/test_sleepy.h"
#include "engine/worker.h"

namespace splitplane::datapath {
namespace {

using namespace std::chrono_literals;
using test::cycles_of;
using test::kLost;
using test::sleepy;
using Clock = std::chrono::steady_clock;

// Counts what a ring gives, and has work at a set time.
struct Taker {
  std::array<Lookahead<RingSource>, 1> lanes;
  std::atomic<unsigned> taken{0}, flushes{0};
  std::atomic<std::uint64_t> due{power::kNever}, served{0};

  std::array<Lookahead<RingSource>, 1>& queues() { return lanes; }
  void process(Lookahead<RingSource>&, Burst& burst) {
    rte_pktmbuf_free_bulk(burst.mbuf.data(), burst.size);
    taken.fetch_add(burst.size);
  }
  void flush() {
    flushes.fetch_add(1);
    if (const std::uint64_t now = rte_rdtsc(); now >= due.load()) {
      due.store(power::kNever);
      served.store(now);
    }
  }
  [[nodiscard]] std::uint64_t next_work(std::uint64_t) const { return due.load(); }
};

struct WorkerSleep : testing::Test {
  WorkerSleep() : function_{.lanes = {Lookahead<RingSource>(RingSource{ring_.get()})}} {}
  ~WorkerSleep() override { end(); }

  void begin(const power::Settings& settings) {
    power_.set(settings);
    thread_ = std::thread([this] { run_worker(function_, power_, mailbox_, stats_, stop_); });
    while (function_.flushes.load() == 0) std::this_thread::sleep_for(1ms);
  }
  void end() {
    stop_.store(true);
    power_.wakeup().wake();
    if (thread_.joinable()) thread_.join();
  }
  void send() {
    rte_mbuf* const m = pool_.make({1, 2, 3});
    ASSERT_EQ(rte_ring_sp_enqueue(ring_.get(), m), 0);
    power_.wakeup().wake();
  }

  test::Pool pool_;
  test::Ring ring_{64};
  Taker function_;
  WorkerPower power_;
  Mailbox mailbox_{&power_.wakeup()};
  WorkerStats stats_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST_F(WorkerSleep, no_packet_is_lost_in_sleep_wake_cycles_at_any_moment) {
  begin(sleepy());
  std::mt19937 random(1);
  const unsigned cycles = cycles_of(20'000);
  Clock::duration longest{};
  for (unsigned i = 1; i <= cycles; ++i) {
    const std::uint64_t moment = rte_rdtsc() + random() % (40 * rte_get_tsc_hz() / 1'000'000);
    while (rte_rdtsc() < moment) rte_pause();
    const auto sent = Clock::now();
    send();
    while (function_.taken.load() < i) std::this_thread::yield();
    longest = std::max(longest, Clock::now() - sent);
  }
  EXPECT_LT(longest, kLost);
  EXPECT_GT(stats_.sleeps.get(), cycles / 2) << "it slept between most of them";
  EXPECT_GT(stats_.wakeups.get(), stats_.sleeps.get() / 2);
  RecordProperty("longest_us", std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(longest).count()));
}

TEST_F(WorkerSleep, a_timer_ends_the_sleep_and_nothing_is_done_before_it) {
  begin(sleepy());
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(2ms);
    const std::uint64_t due = rte_rdtsc() + rte_get_tsc_hz() / 500;  // 2 ms
    function_.served.store(0);
    ASSERT_TRUE(mailbox_.execute([&] { function_.due.store(due); }));  // the control side arms timers in this way
    while (function_.served.load() == 0) std::this_thread::sleep_for(100us);
    EXPECT_LT(function_.served.load() - due, rte_get_tsc_hz() / 2);
  }
}

TEST_F(WorkerSleep, another_policy_takes_over_between_two_rounds_and_shows_its_state) {
  begin(sleepy());
  std::map<std::string, double> state;
  const auto look = [&] { power_.show([&](const char* name, double value) { state[name] = value; }); };
  ASSERT_TRUE(mailbox_.execute(look));
  EXPECT_EQ(state.count("empty_polls"), 1U);
  ASSERT_TRUE(mailbox_.execute([&] { power_.set({.kind = power::Kind::busy}); }));
  const auto sleeps = [&] { return stats_.sleeps.get(); };
  const std::uint64_t before = sleeps();
  for (unsigned i = 1; i <= 100; ++i) {
    send();
    while (function_.taken.load() < i) std::this_thread::yield();
  }
  EXPECT_LE(sleeps(), before + 1) << "the one it was in";
  ASSERT_TRUE(mailbox_.execute([&] { power_.set({.kind = power::Kind::budget}); }));
  std::this_thread::sleep_for(50ms);
  EXPECT_GT(sleeps(), before + 1);
  state.clear();
  ASSERT_TRUE(mailbox_.execute(look));
  EXPECT_EQ(state.count("rate_pps"), 1U);
}

TEST_F(WorkerSleep, an_idle_worker_with_a_latency_budget_hardly_runs) {
  begin({.kind = power::Kind::budget});
  std::this_thread::sleep_for(200ms);  // until its estimate of the rate says so
  const std::uint64_t asleep = stats_.asleep_cycles.get();
  const std::uint64_t from = rte_rdtsc();
  std::this_thread::sleep_for(500ms);
  const double share =
      static_cast<double>(stats_.asleep_cycles.get() - asleep) / static_cast<double>(rte_rdtsc() - from);
  EXPECT_GT(share, 0.95);
}

}  // namespace
}  // namespace splitplane::datapath

#include "baas/run_loop.h"

#include <gtest/gtest.h>

#include <thread>

#include "baas/shared.h"
#include "engine/test_environment.h"
#include "engine/test_sleepy.h"

namespace splitplane::baas {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// A loop of the service on a thread, and the ring to it without a worker that wakes it.
class RunLoop : public testing::TestWithParam<power::Kind> {
 protected:
  RunLoop() {
    power::Settings settings{.kind = GetParam()};
    if (settings.kind == power::Kind::paper) settings = datapath::test::sleepy();
    if (settings.kind == power::Kind::yield) settings.yield = {.empty_rounds = 1, .sleep_us = 50'000};
    power_.set(settings);
  }
  ~RunLoop() override {
    stop_.store(true);
    power_.wakeup().wake();
    if (thread_.joinable()) thread_.join();
  }
  void begin() {
    thread_ = std::thread([this] { run_loop(buffering_, power_, mailbox_, stats_, stop_); });
    std::this_thread::sleep_for(300ms);  // it sleeps as long as it may
  }

  datapath::WorkerPower power_;
  datapath::Mailbox mailbox_{&power_.wakeup()};
  datapath::WorkerStats stats_;
  MessageRing to_service_ = make_message_ring(datapath::test::unique_name("to_service"), 64);
  MessageRing to_worker_ = make_message_ring(datapath::test::unique_name("to_worker"), 64);
  Buffering buffering_{{.channels = {{to_service_.get(), to_worker_.get()}},
                        .max_copies = 64,
                        .ticks_per_ms = rte_get_tsc_hz() / 1000,
                        .now = rte_rdtsc()},
                       stats_};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST_P(RunLoop, that_nobody_wakes_finds_a_message_within_milliseconds) {
  buffering_.nobody_wakes();
  begin();
  std::chrono::nanoseconds all{};
  constexpr unsigned kTimes = 20;
  for (unsigned n = 1; n <= kTimes; ++n) {
    Message m{.kind = Kind::kOpen, .bytes = static_cast<std::uint16_t>(n)};
    Opening{.sn_bits = 18, .max_retx = 8, .t_poll_retransmit_ms = 50}.put(m);
    const auto sent = Clock::now();
    ASSERT_TRUE(send(to_service_.get(), &m, 1));
    while (buffering_.counters().opened.get() < n && Clock::now() < sent + 2s) std::this_thread::sleep_for(100us);
    all += Clock::now() - sent;
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(buffering_.counters().opened.get(), kTimes);
  EXPECT_LT(all / kTimes, 10ms) << "on average, since others may have the core";
  EXPECT_GT(stats_.sleeps.get() + stats_.pauses.get(), 0U) << "it rests all the same";
}

INSTANTIATE_TEST_SUITE_P(EachThatSleeps, RunLoop,
                         testing::Values(power::Kind::yield, power::Kind::paper, power::Kind::budget),
                         [](const auto& kind) {
                           return std::string(power::kKindNames[static_cast<std::size_t>(kind.param)]);
                         });

}  // namespace
}  // namespace splitplane::baas

// What the threads of a run do when an engine fails or a packet is lost: they return a sentence and do not abort, and
// the account is exact in both directions.
#include "bypass/nic_thread.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "bypass/plain_thread.h"
#include "bypass/run.h"
#include "gpu/nic/host_memory.h"
#include "gpu/rings/launch.h"

namespace splitplane::bypass {
namespace {

Scenario short_nic_run() {
  Scenario s{.flows = 8, .window = 16};
  s.seconds = 0.05;
  s.warm_up_seconds = 0.01;
  return s;
}

// Plays a whole run in which `step` is the NIC.
Result play(BenchWire& wire, const NicThread::Step& step, std::uint64_t lost, std::string* failure = nullptr) {
  const Scenario s = short_nic_run();
  NicThread thread(s, step, wire,
                   {.lost = [lost] { return lost; },
                    .cpu_seconds = [] { return 0.0; },
                    .doorbells = [] { return std::uint64_t{0}; },
                    .packets = [] { return std::uint64_t{0}; }});
  thread.start();
  thread.join();
  EXPECT_TRUE(thread.is_done());
  if (failure != nullptr) *failure = thread.failure();
  Result result{.scenario = s};
  thread.fill(result);
  return result;
}

// A NIC whose driver returns all frames at once, except for the first `swallowed`.
NicThread::Step echo(BenchWire& wire, std::uint32_t swallowed) {
  return [&wire, swallowed](std::uint64_t now) mutable {
    nicmodel::WireFrame frames[16];
    const std::uint32_t n = wire.arrive(frames, 16, now);
    const std::uint32_t gone = std::min(swallowed, n);
    swallowed -= gone;
    return wire.leave(frames + gone, n - gone, now);
  };
}

TEST(NicThread, what_a_step_throws_is_the_runs_failure) {
  BenchWire wire(short_nic_run());
  std::string failure;
  play(
      wire, [](std::uint64_t) -> std::uint32_t { throw std::runtime_error("payload: an illegal address"); }, 0,
      &failure);
  EXPECT_EQ(failure, "payload: an illegal address");
}

TEST(NicThread, missing_counts_in_both_directions) {
  BenchWire wire(short_nic_run());
  EXPECT_EQ(play(wire, echo(wire, 0), 0).missing, 0);
  BenchWire swallowing(short_nic_run());
  EXPECT_EQ(play(swallowing, echo(swallowing, 3), 0).missing, 3);
  BenchWire counted(short_nic_run());
  EXPECT_EQ(play(counted, echo(counted, 3), 3).missing, 0);
  BenchWire overcounted(short_nic_run());
  const Result result = play(overcounted, echo(overcounted, 3), 5);
  EXPECT_EQ(result.missing, -2);
  EXPECT_FALSE(result.is_sound());
}

TEST(NicThread, the_wait_for_what_is_counted_as_lost_is_short) {
  BenchWire wire(short_nic_run());
  const std::uint64_t begin = gpu::steady_ns();
  EXPECT_EQ(play(wire, echo(wire, 3), 3).missing, 0);
  EXPECT_LT(gpu::steady_ns() - begin, 900'000'000U);  // it waits at most a second for frames that no counter has
}

struct FailingWorker {
  void work(const gpu::SlotMemory& /*slots*/, std::span<PlainPacket> /*packets*/) {
    throw std::runtime_error("batch_kernel: unspecified launch failure");
  }
};

TEST(PlainThread, what_a_worker_throws_fails_the_run) {
  Scenario s = short_nic_run();
  s.mode = Mode::staging;
  BenchWire wire(s);
  gpu::HostMemory provider({.hugepages = false});
  const auto memory = allocate(provider, s);
  ASSERT_TRUE(memory);
  const auto bed = Bed::make(s, *memory, wire);
  ASSERT_TRUE(bed) << bed.error().message;
  PlainThread<FailingWorker> driver((*bed)->rings(), 32, 0, [](std::size_t) { return FailingWorker{}; });
  const auto result = run_with(s, wire, **bed, driver, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "batch_kernel: unspecified launch failure");
}

}  // namespace
}  // namespace splitplane::bypass

// Receiver and sender in lock-step with the DMA side of a NIC: frames that come in leave, and each setting has its
// effect.
#include "gpu/rings/ring_engine.h"

#include <gtest/gtest.h>

#include "gpu/rings/test_one_ring.h"

namespace splitplane::gpu {
namespace {

using test::Bench;
using test::Bytes;
using test::numbered_frame;
using test::OneRing;
using test::small;
using test::TestNic;

class Sizes : public testing::TestWithParam<std::size_t> {};

TEST_P(Sizes, what_comes_in_goes_out_in_order_and_unchanged) {
  OneRing ring;
  ring.step();
  std::uint64_t in = 0, out = 0;
  while (out < 1000) {
    for (unsigned burst = 0; burst < 20 && in < 1000; ++burst) {
      if (ring.nic.receive(numbered_frame(in, GetParam()))) ++in;
    }
    ring.step();
    for (const Bytes& frame : ring.nic.transmit()) ASSERT_EQ(frame, numbered_frame(out++, GetParam()));
  }
  EXPECT_TRUE(ring.settle().empty());
  EXPECT_TRUE(ring.set.census(0).is_at_rest());
  EXPECT_EQ(ring.set.census(0).free, 64U);
}
INSTANTIATE_TEST_SUITE_P(Frame, Sizes, testing::Values(64, 65, 128, 300, 512, 1000, 1024, 1500, 2048));

TEST(RxEngine, gives_the_nic_all_descriptors_but_one) {
  OneRing ring;
  EXPECT_EQ(load_acquire(ring.bench.rings[0].rdt), 0U) << "before the first step the NIC has none";
  ring.step();
  EXPECT_EQ(load_acquire(ring.bench.rings[0].rdt), 31U);
  ring.nic.listen();
  EXPECT_EQ(ring.nic.free_descriptors(), 31U);
  for (unsigned i = 0; i < 40; ++i) (void)ring.nic.receive(numbered_frame(i, 64));
  EXPECT_EQ(ring.nic.missed, 9U);
  EXPECT_EQ(ring.settle().size(), 31U);
  ring.nic.listen();
  EXPECT_EQ(ring.nic.free_descriptors(), 31U) << "the same again";
}

TEST(RxEngine, writes_the_tail_every_nth_packet) {
  for (const std::uint32_t every : {1U, 2U, 8U, 32U}) {
    RingSettings settings{.ring_size = 128, .slots = 512, .doorbell_every = every, .doorbell_within_ns = 1'000'000};
    OneRing ring(settings);
    ring.step();
    for (unsigned i = 0; i < 96; ++i) ASSERT_TRUE(ring.nic.receive(numbered_frame(i, 64)));
    for (unsigned i = 0; i < 6; ++i) ring.step();
    EXPECT_EQ(ring.rx().doorbells, 1 + 96 / every);
    EXPECT_EQ(ring.tx().doorbells, 96 / every);
  }
}

TEST(RxEngine, writes_the_tail_of_a_part_batch_after_its_time) {
  OneRing ring(RingSettings{.ring_size = 128, .slots = 512, .doorbell_every = 8, .doorbell_within_ns = 2000});
  ring.step();
  ASSERT_TRUE(ring.nic.receive(numbered_frame(0, 64)));
  ring.step(100);  // the NIC sends this one from now on
  ASSERT_EQ(load_acquire(ring.bench.rings[0].tdt), 1U);
  for (unsigned i = 1; i < 4; ++i) ASSERT_TRUE(ring.nic.receive(numbered_frame(i, 64)));
  ring.step(1000);
  EXPECT_EQ(load_acquire(ring.bench.rings[0].tdt), 1U);
  ring.step(1000);  // of a frame that arrived first: the receive tail
  EXPECT_EQ(load_acquire(ring.bench.rings[0].rdt), 3U);
  EXPECT_EQ(load_acquire(ring.bench.rings[0].tdt), 1U);
  ring.step(999);
  EXPECT_EQ(load_acquire(ring.bench.rings[0].tdt), 1U);
  ring.step(1);
  EXPECT_EQ(load_acquire(ring.bench.rings[0].tdt), 4U);
}

TEST(TxEngine, tells_a_nic_that_has_nothing_to_send_at_once) {
  OneRing ring(RingSettings{.ring_size = 128, .slots = 512, .doorbell_every = 32, .doorbell_within_ns = 1'000'000});
  ring.step();
  for (std::uint64_t n = 0; n < 5; ++n) {
    ASSERT_TRUE(ring.nic.receive(numbered_frame(n, 64)));
    ring.step(10);
    EXPECT_EQ(load_acquire(ring.bench.rings[0].tdt), n + 1) << "in the step that handed it over";
    EXPECT_EQ(ring.nic.transmit().size(), 1U);
    ring.step(10);  // sees that the frame was sent
  }
  EXPECT_EQ(ring.tx().doorbells, 5U);
}

class ReportEvery : public testing::TestWithParam<std::uint32_t> {};

TEST_P(ReportEvery, nth_descriptor_and_the_last_of_a_step_bring_all_slots_back) {
  RingSettings settings{.ring_size = 128, .slots = 512, .report_every = GetParam(), .doorbell_within_ns = 0};
  OneRing ring(settings);
  ring.step();
  std::uint64_t sent = 0, out = 0;
  for (const unsigned burst : {1U, 32U, 7U, 32U, 32U, 3U, 31U, 1U}) {
    for (unsigned i = 0; i < burst; ++i) ASSERT_TRUE(ring.nic.receive(numbered_frame(sent++, 64)));
    for (const Bytes& frame : ring.settle()) ASSERT_EQ(frame, numbered_frame(out++, 64));
    ASSERT_EQ(out, sent);
    ASSERT_TRUE(ring.set.census(0).is_at_rest()) << "a burst of " << burst << " leaves none at the NIC";
    ASSERT_EQ(ring.set.census(0).free, 384U);
  }
  EXPECT_EQ(ring.tx().completed, sent);
  EXPECT_GE(ring.nic.reports, sent / GetParam());
}

TEST_P(ReportEvery, a_busy_sender_asks_for_few_reports) {
  RingSettings settings{.ring_size = 128, .slots = 512, .report_every = GetParam(), .doorbell_within_ns = 0};
  OneRing ring(settings);
  ring.step();
  std::uint64_t sent = 0;
  for (int round = 0; round < 50; ++round) {
    for (unsigned i = 0; i < kBatch; ++i) ASSERT_TRUE(ring.nic.receive(numbered_frame(sent++, 64)));
    ring.step();
    (void)ring.nic.transmit();
  }
  ring.settle();
  EXPECT_EQ(ring.nic.reports, sent / GetParam());
  EXPECT_TRUE(ring.set.census(0).is_at_rest());
}
INSTANTIATE_TEST_SUITE_P(Report, ReportEvery, testing::Values(1U, 2U, 8U, 32U));

TEST(RxEngine, tells_a_nic_that_has_no_descriptor_left_at_once) {
  OneRing ring(RingSettings{.ring_size = 32, .slots = 128, .doorbell_every = 32, .doorbell_within_ns = 1'000'000});
  ring.step();
  for (unsigned i = 0; i < 31; ++i) ASSERT_TRUE(ring.nic.receive(numbered_frame(i, 64)));
  EXPECT_FALSE(ring.nic.receive(numbered_frame(31, 64)));
  ring.step(10);
  ring.nic.listen();
  EXPECT_EQ(ring.nic.free_descriptors(), 31U);
}

TEST(RxEngine, takes_no_more_than_its_credit) {
  RingSettings settings = small();
  settings.credit = 5;
  settings.report_every = 1;
  OneRing ring(settings);
  ring.step();
  for (unsigned i = 0; i < 20; ++i) ASSERT_TRUE(ring.nic.receive(numbered_frame(i, 64)));
  ring.step();
  ring.step();
  EXPECT_EQ(ring.rx().packets, 5U);
  EXPECT_EQ(ring.tx().packets, 5U);
  EXPECT_EQ(ring.nic.transmit(2).size(), 2U);
  ring.step();  // two come back
  ring.step();
  EXPECT_EQ(ring.rx().packets, 7U);
  EXPECT_EQ(ring.settle().size(), 18U);
  EXPECT_TRUE(ring.set.census(0).is_at_rest());
}

TEST(RxEngine, overload_is_lost_at_the_nic_and_nowhere_else) {
  OneRing ring;
  ring.step();
  std::uint64_t offered = 0, sent = 0;
  std::vector<std::uint64_t> taken;
  for (unsigned round = 0; round < 500; ++round) {
    for (unsigned i = 0; i < 40; ++i, ++offered) {
      if (ring.nic.receive(numbered_frame(offered, 100))) taken.push_back(offered);
    }
    ring.step();
    for (const Bytes& frame : ring.nic.transmit(10)) ASSERT_EQ(frame, numbered_frame(taken[sent++], 100));
  }
  for (const Bytes& frame : ring.settle()) ASSERT_EQ(frame, numbered_frame(taken[sent++], 100));
  EXPECT_GT(ring.nic.missed, 10'000U);
  EXPECT_EQ(sent + ring.nic.missed, offered);
  EXPECT_EQ(ring.rx().packets, sent);
  EXPECT_GT(ring.rx().waits, 0U) << "the receiver had to wait for slots";
  EXPECT_TRUE(ring.set.census(0).is_at_rest());
}

// Every third frame only.
struct EveryThird {
  std::uint64_t n = 0;
  Verdict process(CpuLane /*lane*/, Frame& /*frame*/) { return n++ % 3 == 0 ? Verdict::send : Verdict::refused; }
};

TEST(RxEngine, the_slot_of_a_dropped_frame_goes_back_to_the_nic) {
  OneRing<EveryThird> ring;
  ring.step();
  std::uint64_t out = 0;
  for (std::uint64_t in = 0; in < 3000; ++in) {
    ASSERT_TRUE(ring.nic.receive(numbered_frame(in, 64)));
    if (in % 16 != 0) continue;
    ring.step();
    for (const Bytes& frame : ring.nic.transmit()) ASSERT_EQ(frame, numbered_frame(3 * out++, 64));
  }
  out += ring.settle().size();
  EXPECT_EQ(out, 1000U);
  EXPECT_EQ(ring.count(Verdict::send), 1000U);
  EXPECT_EQ(ring.count(Verdict::refused), 2000U);
  EXPECT_TRUE(ring.set.census(0).is_at_rest());
}

TEST(RxEngine, a_function_that_moves_the_frame_moves_what_is_sent) {
  struct ShortenFrame {
    Verdict process(CpuLane /*lane*/, Frame& frame) {
      frame.data += 8;
      frame.length -= 8;
      return Verdict::send;
    }
  };
  OneRing<ShortenFrame> ring;
  ring.step();
  const Bytes frame = numbered_frame(7, 64);
  ASSERT_TRUE(ring.nic.receive(frame));
  const auto sent = ring.settle();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0], Bytes(frame.begin() + 8, frame.end()));
}

TEST(Counters, say_what_moved) {
  OneRing ring;
  ring.step();
  for (unsigned i = 0; i < 10; ++i) ASSERT_TRUE(ring.nic.receive(numbered_frame(i, 100)));
  EXPECT_EQ(ring.settle().size(), 10U);
  EXPECT_EQ(ring.rx().packets, 10U);
  EXPECT_EQ(ring.rx().octets, 1000U);
  EXPECT_EQ(ring.rx().completed, 10U);
  EXPECT_EQ(ring.tx().packets, 10U);
  EXPECT_EQ(ring.tx().octets, 1000U);
  EXPECT_EQ(ring.tx().completed, 10U);
  EXPECT_EQ(ring.rx().fault, 0U);
}

TEST(Counters, steps_are_seen_to_go_on_without_a_packet) {
  OneRing ring;
  for (unsigned i = 0; i < 2 * kQuietSteps; ++i) ring.step(1);
  EXPECT_EQ(ring.rx().steps, 2 * kQuietSteps);
  EXPECT_EQ(ring.tx().steps, 2 * kQuietSteps);
}

TEST(Rings, sixty_four_keep_to_their_own_slots) {
  Bench bench(small(), kMaxRings);
  RingSet<Echo> set(bench.rings, Echo{}, bench.view.stop);
  std::vector<TestNic> nics(bench.rings.begin(), bench.rings.end());
  (void)set.step(1);
  std::vector<std::uint64_t> out(kMaxRings);
  for (std::uint64_t n = 0; n < 200; ++n) {
    for (std::size_t r = 0; r < nics.size(); ++r) ASSERT_TRUE(nics[r].receive(numbered_frame(r << 32 | n, 64)));
    (void)set.step(n + 2);
    for (std::size_t r = 0; r < nics.size(); ++r) {
      for (const Bytes& frame : nics[r].transmit()) ASSERT_EQ(frame, numbered_frame(r << 32 | out[r]++, 64));
    }
  }
  for (unsigned i = 0; i < 3; ++i) {
    (void)set.step(1000);
    for (std::size_t r = 0; r < nics.size(); ++r) out[r] += nics[r].transmit().size();
  }
  for (std::size_t r = 0; r < nics.size(); ++r) {
    EXPECT_EQ(out[r], 200U);
    EXPECT_TRUE(set.census(r).is_at_rest());
  }
}

}  // namespace
}  // namespace splitplane::gpu

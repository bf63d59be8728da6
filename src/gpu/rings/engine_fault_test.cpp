// Faults of a NIC or a function: the engines detect and count each of them and recover or report it. No slot is lost.
#include <gtest/gtest.h>

#include "base/random.h"
#include "gpu/rings/test_one_ring.h"
#include "gpu/rings/watchdog.h"

namespace splitplane::gpu {
namespace {

using test::Bytes;
using test::numbered_frame;
using test::OneRing;
using test::small;

constexpr std::uint64_t kStall = 5'000'000;

RxWriteBack whole(std::size_t length) {
  return {.length = static_cast<std::uint16_t>(length)};
}

TEST(BadDescriptor, a_length_that_no_frame_has_is_dropped) {
  for (const unsigned length : {0U, 1U, 13U, 2049U, 65535U}) {
    OneRing ring;
    ring.step();
    ASSERT_TRUE(ring.nic.receive(numbered_frame(1, 64), make_rx_write_back(whole(length))));
    ASSERT_TRUE(ring.nic.receive(numbered_frame(2, 64)));
    EXPECT_EQ(ring.settle(), std::vector<Bytes>{numbered_frame(2, 64)}) << length;
    EXPECT_EQ(ring.count(Verdict::bad_length), 1U);
    EXPECT_TRUE(ring.set.census(0).is_at_rest());
  }
}

TEST(BadDescriptor, a_frame_over_several_descriptors_is_dropped_to_its_end) {
  OneRing ring;
  ring.step();
  RxWriteBack part = whole(2048);
  part.end_of_packet = false;
  ASSERT_TRUE(ring.nic.receive(numbered_frame(1, 64), make_rx_write_back(part)));
  (void)ring.step();  // the first part is processed alone
  ASSERT_TRUE(ring.nic.receive(numbered_frame(2, 64), make_rx_write_back(part)));
  ASSERT_TRUE(ring.nic.receive(numbered_frame(3, 64)));
  ASSERT_TRUE(ring.nic.receive(numbered_frame(4, 64)));
  EXPECT_EQ(ring.settle(), std::vector<Bytes>{numbered_frame(4, 64)});
  EXPECT_EQ(ring.count(Verdict::broken_frame), 3U);
  EXPECT_TRUE(ring.set.census(0).is_at_rest());
}

TEST(BadDescriptor, a_receive_error_is_dropped) {
  OneRing ring;
  ring.step();
  RxWriteBack broken = whole(64);
  broken.errors = kRxErrorMac;
  ASSERT_TRUE(ring.nic.receive(numbered_frame(1, 64), make_rx_write_back(broken)));
  EXPECT_TRUE(ring.settle().empty());
  EXPECT_EQ(ring.count(Verdict::broken_frame), 1U);
}

TEST(BadDescriptor, nothing_that_a_nic_writes_leads_outside_the_slots) {
  OneRing ring;
  ring.step();
  Random random(11);
  for (unsigned i = 0; i < 20'000; ++i) {
    const Descriptor any{random.next(), random.next() | kRxDone};
    (void)ring.nic.receive(numbered_frame(i, 64), any);
    if (i % 7 != 0) continue;
    ring.step();
    for (const Bytes& frame : ring.nic.transmit()) ASSERT_LE(frame.size(), 2048U);
  }
  (void)ring.settle();
  EXPECT_TRUE(ring.set.census(0).is_at_rest());
  std::uint64_t accounted = 0;
  for (const std::uint64_t n : ring.bench.view.verdicts[0].count) accounted += n;
  EXPECT_EQ(ring.rx().packets, accounted) << "each has one verdict";
  EXPECT_EQ(ring.rx().completed, ring.tx().completed);
}

RingSettings watched() {
  RingSettings settings = small();
  settings.early_within_ns = 10'000;
  return settings;
}

TEST(EarlyWriteBack, is_waited_for) {
  OneRing ring(watched());
  ring.step();
  std::uint8_t* const slot = ring.nic.receive_early(64);
  ASSERT_TRUE(ring.nic.receive(numbered_frame(2, 64)));
  for (unsigned i = 0; i < 10; ++i) EXPECT_EQ(ring.step(), 0U);
  const Bytes late = numbered_frame(1, 64);
  std::memcpy(slot, late.data(), late.size());
  EXPECT_EQ(ring.settle(), (std::vector<Bytes>{late, numbered_frame(2, 64)}));
  EXPECT_EQ(ring.rx().recovered, 1U);
  EXPECT_EQ(ring.count(Verdict::early_write_back), 0U);
}

TEST(EarlyWriteBack, is_given_up_after_its_time_and_costs_one_frame) {
  OneRing ring(watched());
  ring.step();
  (void)ring.nic.receive_early(64);
  ASSERT_TRUE(ring.nic.receive(numbered_frame(2, 64)));
  (void)ring.nic.receive_early(64);
  ASSERT_TRUE(ring.nic.receive(numbered_frame(4, 64)));
  std::vector<Bytes> sent;
  for (unsigned i = 0; i < 500; ++i) {
    (void)ring.step(100);
    for (Bytes& frame : ring.nic.transmit()) sent.push_back(std::move(frame));
  }
  EXPECT_EQ(sent, (std::vector<Bytes>{numbered_frame(2, 64), numbered_frame(4, 64)}));
  EXPECT_EQ(ring.count(Verdict::early_write_back), 2U);
  EXPECT_TRUE(ring.set.census(0).is_at_rest());
}

TEST(EarlyWriteBack, goes_unnoticed_where_slots_are_not_watched) {
  OneRing ring;
  ring.step();
  (void)ring.nic.receive_early(64);
  EXPECT_EQ(ring.settle().size(), 1U) << "the far end has to check what it gets";
}

TEST(LostDoorbell, is_repeated_and_work_goes_on) {
  OneRing ring;
  ring.step();
  ASSERT_TRUE(ring.nic.receive(numbered_frame(1, 64)));
  ring.nic.hears_doorbells = false;
  (void)ring.step();
  (void)ring.step();
  EXPECT_TRUE(ring.nic.transmit().empty()) << "the sender's doorbell was lost";
  store_release(ring.bench.rings[0].tdt, 0U);  // and the register does not contain it
  ring.nic.hears_doorbells = true;
  EXPECT_TRUE(ring.nic.transmit().empty());
  (void)ring.step(kStall);
  (void)ring.step(kStall);
  EXPECT_EQ(ring.settle().size(), 1U);
  EXPECT_GE(ring.tx().repeated, 1U);
  EXPECT_EQ(ring.tx().recovered, 1U);
  EXPECT_EQ(static_cast<Fault>(ring.tx().fault), Fault::none);
  EXPECT_TRUE(ring.set.census(0).is_at_rest());
}

TEST(LostDoorbell, of_the_receiver_is_repeated_too) {
  OneRing ring;
  ring.step();
  ring.nic.listen();
  store_release(ring.bench.rings[0].rdt, 0U);  // the NIC missed it and has no descriptors
  EXPECT_FALSE(ring.nic.receive(numbered_frame(1, 64)));
  (void)ring.step(kStall);
  EXPECT_TRUE(ring.nic.receive(numbered_frame(2, 64)));
  EXPECT_EQ(ring.settle().size(), 1U);
  EXPECT_EQ(ring.rx().repeated, 1U);
}

TEST(LostDoorbell, an_idle_ring_repeats_its_tail_and_no_packet_pays_for_it) {
  OneRing ring;
  ring.step();
  ASSERT_TRUE(ring.nic.receive(numbered_frame(1, 64)));
  EXPECT_EQ(ring.settle().size(), 1U);
  EXPECT_EQ(ring.rx().doorbells, 2U) << "the first of all, and this packet's";
  const std::uint32_t tail = load_acquire(ring.bench.rings[0].rdt);
  for (unsigned i = 0; i < 100; ++i) (void)ring.step(kStall);
  EXPECT_EQ(ring.rx().repeated, 100U);
  EXPECT_EQ(ring.rx().doorbells, 2U);
  EXPECT_EQ(load_acquire(ring.bench.rings[0].rdt), tail);
}

TEST(LostDoorbell, is_not_assumed_at_the_first_look) {
  constexpr std::uint64_t kNow = 1'000'000'000'000;  // a clock that began long before the engines
  EngineCounters counters{};
  Account account(&counters);
  ReturnWatch watch(kStall);
  EXPECT_FALSE(watch.look(kNow, 0, true, account)) << "a packet was given to the NIC just now";
  EXPECT_FALSE(watch.look(kNow + kStall - 1, 0, true, account));
  EXPECT_TRUE(watch.look(kNow + kStall, 0, true, account));
}

TEST(StoppedNic, is_a_fault_until_it_goes_on) {
  OneRing ring;
  Watchdog watchdog(ring.bench.view, 1, 20 * kStall);
  ring.step();
  for (unsigned i = 0; i < 5; ++i) ASSERT_TRUE(ring.nic.receive(numbered_frame(i, 64)));
  ring.nic.sends = false;
  ring.step();
  for (unsigned i = 0; i < 4; ++i) {
    (void)ring.step(kStall);
    (void)ring.nic.transmit();
  }
  const std::vector<Finding> found = watchdog.look(ring.now);
  ASSERT_EQ(found, (std::vector<Finding>{{0, false, Fault::sender_stalled}}));
  EXPECT_EQ(found[0].sentence(),
            "ring 0, sender: the NIC does not send: descriptors given to it do not come back, doorbell repeated");
  ring.nic.sends = true;
  EXPECT_EQ(ring.settle().size(), 5U);
  EXPECT_TRUE(watchdog.look(ring.now).empty());
  EXPECT_EQ(ring.tx().recovered, 1U);
  EXPECT_TRUE(ring.set.census(0).is_at_rest());
}

TEST(StoppedNic, keeps_no_slot_when_the_rings_are_given_up) {
  OneRing ring;
  ring.step();
  for (unsigned i = 0; i < 5; ++i) ASSERT_TRUE(ring.nic.receive(numbered_frame(i, 64)));
  ring.nic.sends = false;
  for (unsigned i = 0; i < 4; ++i) (void)ring.step(kStall);
  const SlotCensus census = ring.set.census(0);
  EXPECT_TRUE(census.is_sound());
  EXPECT_EQ(census.at_nic, 5U);
  EXPECT_EQ(census.free + census.posted, 91U);
}

TEST(Slots, that_do_not_come_back_are_reported) {
  OneRing ring;
  Watchdog watchdog(ring.bench.view, 1, 100 * kStall);
  ring.step();
  ring.nic.sends = false;
  for (unsigned i = 0; i < 200; ++i) {
    (void)ring.nic.receive(numbered_frame(i, 64));
    (void)ring.step();
  }
  EXPECT_GT(ring.nic.missed, 0U);
  EXPECT_EQ(ring.set.census(0).free, 0U);
  EXPECT_GT(ring.rx().waits, 0U);
  for (unsigned i = 0; i < 3; ++i) (void)ring.step(kStall);
  for (unsigned i = 0; i < kQuietSteps; ++i) (void)ring.step(1);
  const auto found = watchdog.look(ring.now);
  EXPECT_NE(std::find(found.begin(), found.end(), Finding{0, true, Fault::slots_exhausted}), found.end());
  ring.nic.sends = true;
  EXPECT_EQ(ring.settle().size(), 200U - ring.nic.missed);
  EXPECT_TRUE(watchdog.look(ring.now).empty());
  EXPECT_TRUE(ring.set.census(0).is_at_rest());
}

TEST(WatchdogTest, an_engine_without_a_pulse_is_reported_and_a_stopped_one_is_not) {
  OneRing ring;
  Watchdog watchdog(ring.bench.view, 1, 1000);
  for (unsigned i = 0; i < kQuietSteps; ++i) ring.step(1);
  EXPECT_TRUE(watchdog.look(10'000).empty());
  const auto found = watchdog.look(11'000);
  EXPECT_EQ(found, (std::vector<Finding>{{0, true, Fault::engine_stalled}, {0, false, Fault::engine_stalled}}));
  for (unsigned i = 0; i < kQuietSteps; ++i) ring.step(1);
  EXPECT_TRUE(watchdog.look(12'000).empty()) << "they go on";
  store_release(&ring.bench.view.rx[0].stopped, 1U);
  EXPECT_EQ(watchdog.look(20'000), (std::vector<Finding>{{0, false, Fault::engine_stalled}}));
}

TEST(WatchdogTest, drops_at_the_nic_beside_an_idle_receiver_are_reported) {
  OneRing ring;
  Watchdog watchdog(ring.bench.view, 1, 1'000'000);
  std::uint64_t missed = 5;
  const auto look = [&] {
    for (unsigned i = 0; i < kQuietSteps; ++i) ring.step(1);
    return watchdog.look(ring.now += 600'000, {&missed, 1});
  };
  EXPECT_TRUE(look().empty()) << "what was missed before is no fault";
  EXPECT_TRUE(look().empty());
  EXPECT_TRUE(look().empty());
  missed = 6;
  EXPECT_EQ(look(), (std::vector<Finding>{{0, true, Fault::receiver_deaf}}));
}

// The NIC's counters are read first, which takes a hundred registers of a real NIC. Both sides continue meanwhile.
TEST(WatchdogTest, drops_between_the_reading_of_the_nic_and_of_the_engine_are_no_fault) {
  OneRing ring;
  Watchdog watchdog(ring.bench.view, 1, 1'000'000);
  ring.step();
  std::uint64_t missed = 5;
  EXPECT_TRUE(watchdog.look(ring.now += 600'000, {&missed, 1}).empty());
  const std::uint64_t read = missed;
  missed = 9;  // the NIC drops four more, and then the receiver takes a frame
  (void)ring.nic.receive(numbered_frame(0, 64));
  for (unsigned i = 0; i < kQuietSteps; ++i) ring.step(1);
  EXPECT_TRUE(watchdog.look(ring.now += 600'000, {&read, 1}).empty());
  for (unsigned n = 0; n < 4; ++n) {
    for (unsigned i = 0; i < kQuietSteps; ++i) ring.step(1);
    EXPECT_TRUE(watchdog.look(ring.now += 600'000, {&missed, 1}).empty()) << n;
  }
  missed = 10;
  for (unsigned i = 0; i < kQuietSteps; ++i) ring.step(1);
  EXPECT_EQ(watchdog.look(ring.now += 600'000, {&missed, 1}), (std::vector<Finding>{{0, true, Fault::receiver_deaf}}));
}

TEST(WatchdogTest, a_receiver_without_a_free_slot_is_not_called_deaf) {
  RingSettings slow = small();
  slow.stall_within_ns = 1'000'000'000;  // far from a fault
  OneRing ring(slow);
  Watchdog watchdog(ring.bench.view, 1, 1'000'000);
  ring.step();
  ring.nic.sends = false;
  for (unsigned i = 0; i < 200; ++i) {
    (void)ring.nic.receive(numbered_frame(i, 64));
    (void)ring.step();
  }
  for (unsigned i = 0; i < 5; ++i) {
    (void)ring.nic.receive(numbered_frame(200 + i, 64));
    for (unsigned k = 0; k < kQuietSteps; ++k) ring.step(1);
    EXPECT_TRUE(watchdog.look(ring.now += 600'000, {&ring.nic.missed, 1}).empty()) << "the NIC has no descriptors";
    (void)ring.nic.receive(numbered_frame(300 + i, 64));
    EXPECT_TRUE(watchdog.look(ring.now += 600'000, {&ring.nic.missed, 1}).empty())
        << "nor where the thread did not run";
  }
  EXPECT_GT(ring.nic.missed, 100U);
}

TEST(WatchdogTest, a_sender_of_all_rings_has_a_pulse_on_each) {
  test::Bench bench(small(), 4);
  RingSet<Echo> set(bench.rings, Echo{}, bench.view.stop, RestoreSettings{.window = 64});
  Watchdog watchdog(bench.view, 4, 1'000'000);
  std::uint64_t now = 1;
  for (unsigned look = 0; look < 5; ++look) {
    for (unsigned i = 0; i < kQuietSteps; ++i) (void)set.step(++now);
    EXPECT_TRUE(watchdog.look(now += 600'000).empty());
  }
  EXPECT_EQ(watchdog.look(now + 2'000'000).size(), 8U) << "and one that hangs is missed on each";
}

}  // namespace
}  // namespace splitplane::gpu

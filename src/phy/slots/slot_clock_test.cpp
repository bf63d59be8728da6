#include "phy/slots/slot_clock.h"

#include <gtest/gtest.h>

#include <vector>

#include "phy/slots/monotonic_time.h"
#include "phy/slots/slot_source.h"

namespace splitplane::phy {
namespace {

constexpr Slot kFirst{{1}, 1023, 18};

// A clock that wakes its user later than asked, by the next of the given times.
struct SleepyTime {
  Ns at = 0;
  std::vector<Ns> oversleeps;
  std::size_t waits = 0;
  [[nodiscard]] Ns now() const { return at; }
  void wait_until(Ns wanted) {
    at = std::max(at, wanted) + (waits < oversleeps.size() ? oversleeps[waits] : 0);
    ++waits;
  }
};
static_assert(WaitingTime<SleepyTime> && WaitingTime<MonotonicTime>);
static_assert(SlotSource<RealSlots<SleepyTime>> && SlotSource<SteppedSlots>);

TEST(SlotClock, a_slot_is_returned_once_and_not_before_it_begins) {
  SlotClock clock(kFirst, 1'000'000);
  EXPECT_FALSE(clock.poll(999'999));
  const auto tick = clock.poll(1'000'000);
  ASSERT_TRUE(tick);
  EXPECT_EQ(tick->slot, kFirst);
  EXPECT_EQ(tick->late, 0U);
  EXPECT_FALSE(clock.poll(1'000'001));
  EXPECT_FALSE(clock.poll(1'499'999));
  EXPECT_EQ(clock.next_begin(), 1'500'000U);
  EXPECT_EQ(clock.poll(1'500'007)->late, 7U);
}

TEST(SlotClock, the_frame_number_wraps_and_the_number_since_the_start_does_not) {
  SlotClock clock(kFirst, 0);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(clock.poll(i * 500'000)->number, i);
  EXPECT_EQ(clock.poll(4 * 500'000)->slot, (Slot{{1}, 0, 2}));
}

TEST(SlotClock, slots_without_a_look_are_missed_and_the_running_one_is_returned) {
  SlotClock clock(kFirst, 0);
  (void)clock.poll(0);
  const auto tick = clock.poll(500'000 * 5 + 3);
  EXPECT_EQ(tick->number, 5U);
  EXPECT_EQ(tick->missed, 4U);
  EXPECT_EQ(tick->late, 3U);
  EXPECT_EQ(clock.missed(), 4U);
  EXPECT_EQ(clock.seen(), 2U);
  EXPECT_EQ(clock.poll(500'000 * 6)->missed, 0U);
}

// 2^40 slots of 0.125 ms are 4 years: the deadline is still exact.
TEST(SlotClock, nothing_drifts_in_years) {
  const SlotClock clock(Slot{{3}, 0, 0}, 17);
  EXPECT_EQ(clock.begin_of(std::uint64_t{1} << 40), (std::uint64_t{1} << 40) * 125'000 + 17);
}

TEST(RealSlots, a_late_wake_up_delays_no_later_slot) {
  SleepyTime time{.oversleeps = {100'000, 0, 499'999, 0}};
  RealSlots slots(time, kFirst, 0);
  EXPECT_EQ(slots.wait().late, 100'000U);
  EXPECT_EQ(slots.wait().late, 0U);
  EXPECT_EQ(slots.wait().late, 499'999U);
  const Tick fourth = slots.wait();
  EXPECT_EQ(fourth.late, 0U);
  EXPECT_EQ(fourth.begin, 3U * 500'000);
  EXPECT_EQ(slots.clock().missed(), 0U);
}

TEST(RealSlots, a_wake_up_in_a_later_slot_misses_those_between) {
  SleepyTime time{.oversleeps = {0, 1'700'000}};
  RealSlots slots(time, kFirst, 0);
  (void)slots.wait();
  const Tick tick = slots.wait();
  EXPECT_EQ(tick.number, 4U);
  EXPECT_EQ(tick.missed, 3U);
  EXPECT_EQ(tick.late, 200'000U);
  EXPECT_EQ(slots.clock().seen() + slots.clock().missed(), 5U);
}

TEST(RealSlots, a_clock_that_wakes_early_is_asked_again) {
  struct HastyTime {
    Ns at = 0;
    [[nodiscard]] Ns now() const { return at; }
    void wait_until(Ns wanted) { at += (wanted - at + 1) / 2; }
  } time;
  RealSlots slots(time, kFirst, 1'000'000);
  EXPECT_EQ(slots.wait().late, 0U);
  EXPECT_EQ(time.at, 1'000'000U);
}

TEST(SteppedSlots, each_wait_is_the_next_slot_exactly_when_it_begins) {
  SteppedSlots slots(kFirst);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const Tick tick = slots.wait();
    EXPECT_EQ(tick.number, i);
    EXPECT_EQ(tick.slot, after(kFirst, static_cast<std::int64_t>(i)));
    EXPECT_EQ(tick.late + tick.missed, 0U);
    EXPECT_EQ(slots.now(), i * 500'000);
  }
}

TEST(MonotonicTime, waiting_ends_at_the_time_or_later_with_a_sleep_or_without) {
  for (const Ns spin : {Ns{0}, Ns{50'000}, MonotonicTime::kNever}) {
    const MonotonicTime time(spin);
    const Ns at = time.now() + 300'000;
    time.wait_until(at);
    EXPECT_GE(time.now(), at);
    time.wait_until(at);  // what is over needs no wait
  }
}

}  // namespace
}  // namespace splitplane::phy

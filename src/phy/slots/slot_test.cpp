#include "phy/slots/slot.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>

namespace splitplane::phy {
namespace {

constexpr std::array<Numerology, 4> kAll{{{0}, {1}, {2}, {3}}};

TEST(Slot, a_numerology_has_10_times_2_to_mu_slots_a_frame_of_10_ms) {
  constexpr std::array<std::uint32_t, 4> kSlots{10, 20, 40, 80};
  for (const Numerology n : kAll) {
    EXPECT_EQ(n.slots_per_frame(), kSlots[n.mu]);
    EXPECT_EQ(n.slots_per_frame() * n.slot_ns(), 10'000'000U);
    EXPECT_TRUE(n.valid());
  }
  EXPECT_FALSE(Numerology{4}.valid());
}

TEST(Slot, the_last_slot_of_sfn_1023_is_followed_by_slot_0_of_sfn_0) {
  for (const Numerology n : kAll) {
    const Slot last{n, 1023, static_cast<std::uint8_t>(n.slots_per_frame() - 1)};
    EXPECT_TRUE(last.valid());
    EXPECT_EQ(after(last, 1), (Slot{n, 0, 0}));
    EXPECT_EQ(after(Slot{n, 0, 0}, -1), last);
    EXPECT_EQ(distance(last, after(last, 1)), 1);
    EXPECT_EQ(distance(after(last, 1), last), -1);
  }
}

TEST(Slot, each_slot_of_a_cycle_has_one_index_and_comes_back_from_it) {
  for (const Numerology n : kAll) {
    Slot slot{n, 0, 0};
    for (std::uint32_t i = 0; i < n.slots_per_cycle(); ++i) {
      ASSERT_TRUE(slot.valid());
      ASSERT_EQ(slot.index(), i);
      ASSERT_EQ(slot_at(n, i), slot);
      slot = after(slot, 1);
    }
    EXPECT_EQ(slot, (Slot{n, 0, 0}));
  }
}

TEST(Slot, values_outside_a_frame_are_not_valid) {
  EXPECT_FALSE((Slot{{0}, 0, 10}).valid());
  EXPECT_FALSE((Slot{{3}, 1024, 0}).valid());
  EXPECT_TRUE((Slot{{3}, 1023, 79}).valid());
}

TEST(Slot, half_a_cycle_is_the_greatest_distance) {
  for (const Numerology n : kAll) {
    const auto half = static_cast<std::int32_t>(n.slots_per_cycle() / 2);
    const Slot here{n, 700, 3};
    EXPECT_EQ(distance(here, after(here, half)), half);
    EXPECT_EQ(distance(here, after(here, half + 1)), 1 - half);
    EXPECT_EQ(distance(here, here), 0);
  }
}

TEST(Slot, distance_undoes_after_within_half_a_cycle) {
  EXPECT_TRUE(rc::check("distance undoes after", [] {
    const Numerology n{*rc::gen::inRange<std::uint8_t>(0, 4)};
    const Slot from = slot_at(n, *rc::gen::arbitrary<std::uint64_t>());
    const auto half = static_cast<std::int32_t>(n.slots_per_cycle() / 2);
    const auto slots = *rc::gen::inRange<std::int32_t>(1 - half, half + 1);
    const auto cycles = *rc::gen::inRange<std::int64_t>(-1000, 1000);
    RC_ASSERT(distance(from, after(from, slots)) == slots);
    RC_ASSERT(after(from, slots + cycles * n.slots_per_cycle()) == after(from, slots));
  }));
}

static_assert(after(Slot{{1}, 1023, 19}, 1) == Slot{{1}, 0, 0});

}  // namespace
}  // namespace splitplane::phy

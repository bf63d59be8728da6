#include "placement/decision/consolidation.h"

#include <gmock/gmock.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <random>
#include <vector>

namespace splitplane::placement {
namespace {

using Kind = ConsolidationStep::Kind;
constexpr ConsolidationSettings kOn{.on = true, .fill_percent = 60, .busy_percent = 85, .calm_ms = 1000};

// Workers that do at once what is decided, looked at every 100 ms.
struct Cores {
  explicit Cores(std::vector<double> busy, const ConsolidationSettings& settings = kOn) : consolidation(settings) {
    for (std::size_t i = 0; i < busy.size(); ++i) loops.push_back({.busy = busy[i], .on = i, .takes_part = true});
  }
  std::optional<ConsolidationStep> look() {
    now += Time(100);
    const auto step = consolidation.decide(now, loops);
    if (step) loops[step->guest].on = step->kind == Kind::kPark ? step->host : step->guest;
    return step;
  }
  // The steps of `n` looks.
  std::vector<ConsolidationStep> looks(unsigned n) {
    std::vector<ConsolidationStep> steps;
    for (unsigned i = 0; i < n; ++i) {
      if (const auto step = look()) steps.push_back(*step);
    }
    return steps;
  }
  [[nodiscard]] double load(std::size_t core) const {
    double sum = 0;
    for (const LoopFacts& loop : loops) sum += loop.on == core ? loop.busy : 0;
    return sum;
  }
  [[nodiscard]] std::size_t awake() const {
    std::size_t n = 0;
    for (std::size_t i = 0; i < loops.size(); ++i) n += loops[i].on == i ? 1 : 0;
    return n;
  }

  std::vector<LoopFacts> loops;
  Consolidation consolidation;
  Time now{0};
};

TEST(Consolidation, two_workers_with_little_load_share_a_core_after_the_calm_time) {
  Cores cores({0.1, 0.3});
  EXPECT_TRUE(cores.looks(10).empty());
  const auto step = cores.look();
  ASSERT_TRUE(step);
  EXPECT_EQ(*step, (ConsolidationStep{Kind::kPark, 0, 1, 0.4})) << "the least busy one moves";
  EXPECT_TRUE(cores.looks(50).empty());
}

TEST(Consolidation, a_core_that_gets_too_busy_sends_its_guest_home_with_the_next_look) {
  Cores cores({0.1, 0.3});
  ASSERT_EQ(cores.looks(20).size(), 1U);
  cores.loops[1].busy = 0.8;
  const auto step = cores.look();
  ASSERT_TRUE(step);
  EXPECT_EQ(step->kind, Kind::kWake);
  EXPECT_EQ(step->guest, 0U);
  EXPECT_TRUE(cores.looks(50).empty()) << "0.9 does not fit on one core";
}

TEST(Consolidation, between_fill_and_busy_nothing_changes) {
  Cores cores({0.2, 0.3});
  ASSERT_EQ(cores.looks(20).size(), 1U);
  cores.loops[1].busy = 0.6;
  EXPECT_TRUE(cores.looks(50).empty());
  Cores apart({0.2, 0.6});
  EXPECT_TRUE(apart.looks(50).empty());
}

TEST(Consolidation, a_load_that_comes_back_within_the_calm_time_parks_nobody) {
  Cores cores({0.1, 0.3});
  for (int i = 0; i < 10; ++i) {
    cores.loops[1].busy = 0.3;
    EXPECT_TRUE(cores.looks(9).empty());
    cores.loops[1].busy = 0.9;
    EXPECT_TRUE(cores.looks(1).empty());
  }
}

TEST(Consolidation, a_guest_goes_where_the_fewest_cores_are_left) {
  Cores cores({0.05, 0.2, 0.5, 0.3});
  (void)cores.looks(100);
  EXPECT_EQ(cores.awake(), 2U);
  EXPECT_EQ(cores.loops[0].on, 2U) << "the busiest one with room";
  EXPECT_EQ(cores.loops[1].on, 3U);
}

TEST(Consolidation, a_loop_that_does_not_take_part_stays_and_gets_no_guest) {
  Cores cores({0.1, 0.1});
  cores.loops[1].takes_part = false;
  EXPECT_TRUE(cores.looks(50).empty());
  cores.loops[1].takes_part = true;
  ASSERT_EQ(cores.looks(20).size(), 1U);
  cores.loops[0].takes_part = false;  // the guest, which was asked to stay
  cores.loops[1].busy = 1;
  EXPECT_TRUE(cores.looks(50).empty());
}

TEST(Consolidation, loops_share_a_core_within_their_group) {
  Cores cores({0.1, 0.1, 0.1});
  cores.loops[0].group = 1;
  (void)cores.looks(50);
  EXPECT_EQ(cores.loops[0].on, 0U);
  EXPECT_EQ(cores.awake(), 2U);
  cores.loops[cores.loops[1].on == 1 ? 2 : 1].group = 1;  // the guest gets another policy
  const auto step = cores.look();
  ASSERT_TRUE(step);
  EXPECT_EQ(step->kind, Kind::kWake);
}

TEST(Consolidation, a_full_host_is_passed_over) {
  Cores many(std::vector<double>(kMostGuests + 3, 0.001));
  (void)many.looks(1000);
  EXPECT_EQ(many.awake(), 2U);
  Cores wide({0.1, 0.2, 0.05});
  for (LoopFacts& loop : wide.loops) loop.queues = 60;
  (void)wide.looks(100);
  EXPECT_EQ(wide.awake(), 2U) << "three have more queues than one thread looks at";
}

TEST(Consolidation, when_it_is_switched_off_all_go_home) {
  Cores cores({0.1, 0.1, 0.1});
  (void)cores.looks(50);
  ASSERT_EQ(cores.awake(), 1U);
  cores.consolidation.set({});
  EXPECT_EQ(cores.looks(3).size(), 2U);
  EXPECT_EQ(cores.awake(), 3U);
  EXPECT_TRUE(cores.looks(50).empty());
}

RC_GTEST_PROP(Consolidation, any_load_that_stands_still_comes_to_rest, ()) {
  const auto loads = *rc::gen::container<std::vector<unsigned>>(*rc::gen::inRange(1, 9), rc::gen::inRange(0U, 101U));
  std::vector<double> busy;
  for (const unsigned percent : loads) busy.push_back(percent / 100.0);
  Cores cores(busy);
  std::mt19937 random(1);
  for (int change = 0; change < 5; ++change) {
    for (std::size_t i = 0; i < 2 * busy.size(); ++i) (void)cores.looks(12);
    RC_ASSERT(cores.looks(30).empty());
    for (std::size_t core = 0; core < busy.size(); ++core) {
      std::size_t loops = 0;
      for (const LoopFacts& loop : cores.loops) loops += loop.on == core ? 1 : 0;
      RC_ASSERT(loops < 2 || cores.load(core) <= 0.85 + 1e-9);
      RC_ASSERT(loops == 0 || cores.loops[core].on == core);  // a core that sleeps has no guest
    }
    for (LoopFacts& loop : cores.loops) loop.busy = static_cast<double>(random() % 101) / 100;
  }
}

}  // namespace
}  // namespace splitplane::placement

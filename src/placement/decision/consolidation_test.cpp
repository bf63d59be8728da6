#include "placement/decision/consolidation.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace splitplane::placement {
namespace {

// Workers whose shards have loads: it carries out what was decided, with no delay.
struct Cores {
  explicit Cores(std::size_t workers) {
    facts.workers.resize(workers);
    for (std::size_t i = 0; i < kShards; ++i) facts.shards[i].worker = static_cast<std::uint8_t>(i % workers);
    measure();
  }
  void load(double whole) {
    for (ShardFacts& shard : facts.shards) shard.load = whole / kShards;
    measure();
  }
  void measure() {
    for (WorkerFacts& worker : facts.workers) worker.busy = 0;
    for (const ShardFacts& shard : facts.shards) facts.workers[shard.worker].busy += shard.load;
    for (WorkerFacts& worker : facts.workers) worker.busy = std::min(worker.busy, 1.0);
  }
  // How many shards moved.
  std::size_t pass(Consolidation& consolidation) {
    facts.now += Time(500);
    const ShardDecision& decision = consolidation.decide(facts);
    for (const auto worker : decision.wake) facts.workers[worker].parked = false;
    for (const ShardMove& move : decision.moves) {
      EXPECT_EQ(facts.shards[move.shard.value].worker, move.from);
      EXPECT_FALSE(facts.workers[move.to].parked);
      facts.shards[move.shard.value].worker = move.to;
    }
    for (const auto worker : decision.park) facts.workers[worker].parked = true;
    measure();
    return decision.moves.size();
  }
  [[nodiscard]] std::size_t working() const {
    return static_cast<std::size_t>(std::ranges::count_if(facts.workers, [](const auto& w) { return !w.parked; }));
  }
  Facts facts;
};

constexpr ConsolidationSettings kOn{.on = true};

TEST(Consolidation, two_workers_become_one_after_a_calm_time_and_two_at_once) {
  Cores cores(2);
  Consolidation consolidation(kOn);
  cores.load(0.4);
  int periods = 0;
  while (cores.working() == 2 && periods < 100) {
    ++periods;
    cores.pass(consolidation);
  }
  EXPECT_EQ(periods, 12) << "5 s of calm, then a period for the shards, and one to park";
  EXPECT_NEAR(cores.facts.workers[0].busy + cores.facts.workers[1].busy, 0.4, 1e-9);
  cores.load(0.9);
  EXPECT_EQ(cores.pass(consolidation), 128U) << "one period";
  EXPECT_EQ(cores.working(), 2U);
  EXPECT_NEAR(cores.facts.workers[0].busy, 0.45, 0.01);
}

TEST(Consolidation, nothing_moves_between_its_thresholds) {
  Cores cores(2);
  Consolidation consolidation(kOn);
  cores.load(0.7);  // too much for one, little for two
  for (int i = 0; i < 50; ++i) EXPECT_EQ(cores.pass(consolidation), 0U);
  EXPECT_EQ(cores.working(), 2U);
  cores.load(0.5);
  for (int i = 0; i < 20; ++i) cores.pass(consolidation);
  EXPECT_EQ(cores.working(), 1U);
  cores.load(0.7);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(cores.pass(consolidation), 0U);
  EXPECT_EQ(cores.working(), 1U);
}

TEST(Consolidation, a_moment_of_load_starts_the_calm_time_anew) {
  Cores cores(2);
  Consolidation consolidation(kOn);
  for (int i = 0; i < 40; ++i) {
    cores.load(i % 8 == 7 ? 1.0 : 0.2);
    cores.pass(consolidation);
  }
  EXPECT_EQ(cores.working(), 2U);
}

TEST(Consolidation, shards_stay_among_workers_behind_the_same_cards) {
  Cores cores(2);
  cores.facts.workers[0].cards = 1;
  Consolidation consolidation(kOn);
  cores.load(0.1);
  for (int i = 0; i < 30; ++i) EXPECT_EQ(cores.pass(consolidation), 0U);
}

TEST(Consolidation, while_a_shard_moves_nothing_begins) {
  Cores cores(2);
  cores.facts.shards[3].moving = true;
  Consolidation consolidation(kOn);
  cores.load(0.1);
  for (int i = 0; i < 30; ++i) EXPECT_EQ(cores.pass(consolidation), 0U);
  cores.facts.shards[3].moving = false;
  for (int i = 0; i < 30; ++i) cores.pass(consolidation);
  EXPECT_EQ(cores.working(), 1U);
}

TEST(Consolidation, one_shard_that_is_all_of_the_load_wakes_no_worker) {
  Cores cores(2);
  cores.load(0);
  Consolidation consolidation(kOn);
  for (int i = 0; i < 30; ++i) cores.pass(consolidation);
  ASSERT_EQ(cores.working(), 1U);
  cores.facts.shards[5].load = 0.95;
  cores.measure();
  for (int i = 0; i < 30; ++i) EXPECT_EQ(cores.pass(consolidation), 0U);
}

TEST(Consolidation, off_it_wakes_a_parked_worker_that_owns_shards_alone) {
  Cores cores(2);
  cores.facts.workers[1].parked = true;
  Consolidation consolidation(ConsolidationSettings{});
  cores.load(0.1);
  EXPECT_EQ(cores.pass(consolidation), 0U);
  EXPECT_EQ(cores.working(), 2U);
  for (int i = 0; i < 30; ++i) EXPECT_EQ(cores.pass(consolidation), 0U);
  EXPECT_EQ(cores.working(), 2U);
}

RC_GTEST_PROP(Consolidation, comes_to_an_end_and_fills_no_core_beyond_its_limit, ()) {
  Cores cores(*rc::gen::inRange<std::size_t>(1, 6));
  Consolidation consolidation(kOn);
  for (ShardFacts& shard : cores.facts.shards) shard.load = *rc::gen::inRange(0, 100) / 10'000.0;
  cores.measure();
  std::size_t quiet = 0;
  for (int i = 0; i < 500 && quiet < 30; ++i) {
    const std::size_t before = cores.working();
    const bool was_over = std::ranges::any_of(cores.facts.workers, [](const auto& w) { return w.busy > 0.85; });
    const std::size_t moved = cores.pass(consolidation);
    quiet = moved == 0 && cores.working() == before ? quiet + 1 : 0;
    if (moved == 0 || was_over) continue;
    for (const WorkerFacts& worker : cores.facts.workers) RC_ASSERT(worker.busy <= 0.85);
  }
  RC_ASSERT(quiet == 30U);
}

TEST(ShareOut, splits_a_worker_s_time_by_the_packets_of_its_shards) {
  Facts facts;
  facts.workers = {{.busy = 0.6}, {.busy = 0.1}};
  facts.shards[7].worker = 1;
  std::array<double, kShards> packets{};
  packets[0] = 100;
  packets[1] = 200;
  share_out(facts, packets);
  EXPECT_DOUBLE_EQ(facts.shards[0].load, 0.2);
  EXPECT_DOUBLE_EQ(facts.shards[1].load, 0.4);
  EXPECT_DOUBLE_EQ(facts.shards[7].load, 0);
}

}  // namespace
}  // namespace splitplane::placement

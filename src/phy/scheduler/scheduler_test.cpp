// What every scheduler promises, for both of them, and what each one is for: fairness, and that no UE starves.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <numeric>
#include <vector>

#include "base/random.h"
#include "phy/scheduler/average_rates.h"
#include "phy/scheduler/proportional_fair.h"
#include "phy/scheduler/round_robin.h"

namespace splitplane::phy {
namespace {

constexpr std::uint16_t kPrbs = 106;
constexpr std::size_t kMost = 8;

// A cell whose UEs' backlogs fall by what they are granted; HARQ is told by the test.
struct Cell {
  explicit Cell(std::size_t ues, std::uint32_t backlog = 0, std::uint8_t mcs = 10, unsigned window = 200)
      : facts(ues), averages(ues, window), served(ues), grants(64) {
    for (std::size_t ue = 0; ue < ues; ++ue) facts[ue] = {static_cast<Rnti>(100 + ue), mcs, 0, 0, backlog};
  }
  template <Scheduler S>
  std::span<const Grant> slot(S& scheduler, std::span<const Retransmission> again = {}, bool drain = true) {
    const SlotFacts what{.slot = slot_at({1}, now++),
                         .prbs = kPrbs,
                         .shape = shape,
                         .ues = facts,
                         .average_rates = averages.rates(),
                         .retransmissions = again};
    const std::span<const Grant> given = std::span(grants).first(scheduler.schedule(what, grants));
    averages.update(given);
    for (const Grant& grant : given) {
      if (grant.retransmission) continue;
      served[grant.ue] += grant.tb_bytes;
      if (drain) facts[grant.ue].backlog_bytes -= std::min(facts[grant.ue].backlog_bytes, grant.tb_bytes);
    }
    return given;
  }

  TbShape shape;
  std::vector<UeFacts> facts;
  AverageRates averages;
  std::vector<std::uint64_t> served;
  std::vector<Grant> grants;
  std::uint64_t now = 0;
};

// Jain's index: 1 if all get the same, 1 / n if one gets all.
double fairness(const std::vector<std::uint64_t>& shares) {
  double sum = 0, squares = 0;
  for (const std::uint64_t share : shares) {
    sum += static_cast<double>(share);
    squares += static_cast<double>(share) * static_cast<double>(share);
  }
  return sum * sum / (squares * static_cast<double>(shares.size()));
}

template <class S>
class EveryScheduler : public testing::Test {
 protected:
  static S make(std::size_t ues) { return S(ues, kMost); }
};
using Schedulers = testing::Types<RoundRobin, ProportionalFair>;
TYPED_TEST_SUITE(EveryScheduler, Schedulers);

// Any facts at all, within their ranges.
TYPED_TEST(EveryScheduler, grants_never_overlap_exceed_the_slot_or_double_a_ue) {
  EXPECT_TRUE(rc::check("grants are legal", [] {
    const auto ues = *rc::gen::inRange<std::size_t>(0, 40);
    Cell cell(ues);
    TypeParam scheduler(ues, kMost);
    cell.grants.resize(*rc::gen::inRange<std::size_t>(0, 12));
    for (int slot = 0; slot < 20; ++slot) {
      for (UeFacts& ue : cell.facts) {
        ue.mcs = *rc::gen::inRange<std::uint8_t>(0, 29);
        ue.backlog_bytes = *rc::gen::elementOf(std::vector<std::uint32_t>{0, 1, 100, 5000, 4'000'000'000U});
        ue.process = *rc::gen::elementOf(std::vector<std::uint8_t>{kNoProcess, 0, 5});
      }
      std::vector<Retransmission> again;
      for (auto n = ues == 0 ? 0 : *rc::gen::inRange(0, 6); n > 0; --n) {
        const auto place = static_cast<std::uint16_t>(*rc::gen::inRange<std::size_t>(0, ues));
        again.push_back({place, 7, 1, 2, 28, *rc::gen::inRange<std::uint16_t>(1, 120), 777});
      }
      const std::vector<UeFacts> facts = cell.facts;
      const auto grants = cell.slot(scheduler, again);
      RC_ASSERT(grants.size() <= cell.grants.size());
      std::uint32_t next = 0;
      std::vector<int> count(ues);
      bool new_data = false;
      for (const Grant& grant : grants) {
        RC_ASSERT(grant.first_prb == next);
        RC_ASSERT(grant.prbs > 0);
        next += grant.prbs;
        RC_ASSERT(++count[grant.ue] == 1);
        RC_ASSERT(grant.rnti == facts[grant.ue].rnti);
        RC_ASSERT(!(new_data && grant.retransmission));
        new_data = !grant.retransmission;
        if (new_data) {
          RC_ASSERT(facts[grant.ue].backlog_bytes != 0 && facts[grant.ue].process == grant.process);
          RC_ASSERT(grant.tb_bytes == tb_bytes(cell.shape, grant.mcs, grant.prbs));
          RC_ASSERT(grant.rv == 0 && grant.mcs == facts[grant.ue].mcs);
          // No more PRBs than the backlog needs.
          RC_ASSERT(grant.prbs == 1 ||
                    tb_bytes(cell.shape, grant.mcs, grant.prbs - 1U) < facts[grant.ue].backlog_bytes);
        } else {
          RC_ASSERT(grant.tb_bytes == 777 && grant.rv == 2 && grant.mcs == 28 && grant.process == 7);
        }
      }
      RC_ASSERT(next <= kPrbs);
    }
  }));
}

// Work is conserved: PRBs stay free only if no UE needs them, or the slot has as many grants as it may have.
TYPED_TEST(EveryScheduler, prbs_stay_free_only_if_no_ue_needs_them) {
  EXPECT_TRUE(rc::check("work is conserved", [] {
    const auto ues = *rc::gen::inRange<std::size_t>(1, 30);
    Cell cell(ues);
    TypeParam scheduler(ues, kMost);
    for (UeFacts& ue : cell.facts) {
      ue.mcs = *rc::gen::inRange<std::uint8_t>(0, 29);
      ue.backlog_bytes = *rc::gen::inRange<std::uint32_t>(0, 3000);
    }
    const std::vector<UeFacts> facts = cell.facts;
    const auto grants = cell.slot(scheduler, {}, false);
    std::uint32_t used = 0;
    std::vector<std::uint32_t> got(ues);
    for (const Grant& grant : grants) {
      used += grant.prbs;
      got[grant.ue] = grant.tb_bytes;
    }
    if (used == kPrbs) return;
    std::size_t without = 0;
    for (std::size_t ue = 0; ue < ues; ++ue) {
      if (got[ue] != 0) {
        RC_ASSERT(got[ue] >= facts[ue].backlog_bytes);
      } else {
        without += facts[ue].backlog_bytes != 0 ? 1 : 0;
      }
    }
    RC_ASSERT(without == 0U || grants.size() == kMost);
  }));
}

TYPED_TEST(EveryScheduler, the_same_calls_give_the_same_grants) {
  const auto run = [] {
    TypeParam scheduler(50, kMost);
    Cell cell(50);
    Random random(5);
    std::vector<std::uint64_t> seen;
    for (int slot = 0; slot < 500; ++slot) {
      for (UeFacts& ue : cell.facts) {
        ue.backlog_bytes += random.below(3) == 0 ? random.below(2000) : 0;
        ue.mcs = static_cast<std::uint8_t>(random.below(29));
      }
      for (const Grant& g : cell.slot(scheduler))
        seen.push_back(std::uint64_t{g.ue} << 32 | g.prbs << 16 | g.first_prb);
    }
    return seen;
  };
  const auto first = run();
  EXPECT_GT(first.size(), 500U);
  EXPECT_EQ(first, run());
}

TYPED_TEST(EveryScheduler, retransmissions_come_first_the_oldest_before_younger_ones_and_keep_their_size) {
  TypeParam scheduler(4, kMost);
  Cell cell(4, 100'000);
  // The second one does not fit behind the first; the third is smaller and does. The fourth is of a UE that is served.
  const std::vector<Retransmission> again{
      {2, 3, 1, 2, 4, 60, 555}, {1, 0, 0, 3, 4, 50, 444}, {3, 9, 1, 1, 4, 46, 333}, {3, 8, 1, 1, 4, 1, 9}};
  const auto grants = cell.slot(scheduler, again);
  ASSERT_EQ(grants.size(), 2U);
  EXPECT_EQ(grants[0].ue, 2);
  EXPECT_EQ(grants[0].tb_bytes, 555U);
  EXPECT_EQ(grants[0].process, 3);
  EXPECT_EQ(grants[0].ndi, 1);
  EXPECT_EQ(grants[0].rv, 2);
  EXPECT_EQ(grants[0].prbs, 60);
  EXPECT_EQ(grants[1].ue, 3);
  EXPECT_EQ(grants[1].process, 9);
  // In the next slot the one that waited is the oldest.
  const auto next = cell.slot(scheduler, std::span(again).subspan(1, 1));
  EXPECT_EQ(next[0].ue, 1);
  EXPECT_EQ(next[0].tb_bytes, 444U);
  EXPECT_EQ(next[0].rv, 3);
  EXPECT_FALSE(next[1].retransmission);  // the rest is for new data
}

TYPED_TEST(EveryScheduler, equal_ues_with_endless_data_get_equal_rates) {
  constexpr std::size_t kUes = 20;
  TypeParam scheduler(kUes, kMost);
  Cell cell(kUes, 1'000'000'000);
  for (int slot = 0; slot < 20'000; ++slot) (void)cell.slot(scheduler, {}, false);
  EXPECT_GT(fairness(cell.served), 0.999);
}

TYPED_TEST(EveryScheduler, no_ue_with_data_starves_whatever_the_others_do) {
  EXPECT_TRUE(rc::check("no UE starves", [] {
    const auto ues = *rc::gen::weightedOneOf<std::size_t>(
        {{30, rc::gen::inRange<std::size_t>(1, 60)}, {1, rc::gen::inRange<std::size_t>(60, 1001)}});
    TypeParam scheduler(ues, *rc::gen::inRange<std::size_t>(1, 17));
    Cell cell(ues, 0, 10, *rc::gen::elementOf(std::vector<unsigned>{1, 5, 50, 200, 1000}));
    Random random(*rc::gen::arbitrary<std::uint64_t>());
    std::vector<std::uint64_t> last(ues);
    for (UeFacts& ue : cell.facts) ue.mcs = static_cast<std::uint8_t>(random.below(29));
    const std::size_t watched = random.below(static_cast<std::uint32_t>(ues));
    const std::uint64_t longest = 4 * (200 + ues);
    for (std::uint64_t slot = 0; slot < 2 * longest; ++slot) {
      for (std::size_t ue = 0; ue < ues; ++ue) {
        UeFacts& facts = cell.facts[ue];
        if (ue == watched || random.below(4) == 0) facts.backlog_bytes = 1 + random.below(1U << random.below(20));
        if (random.below(50) == 0 && ue != watched) facts.mcs = static_cast<std::uint8_t>(random.below(29));
      }
      for (const Grant& grant : cell.slot(scheduler, {}, false)) last[grant.ue] = slot;
      RC_ASSERT(slot - last[watched] <= longest);
    }
  }));
}

TEST(RoundRobin, turns_go_on_where_the_last_slot_ended) {
  RoundRobin scheduler(20, 3);
  Cell cell(20, 1'000'000'000);
  for (std::uint16_t slot = 0; slot < 40; ++slot) {
    const auto grants = cell.slot(scheduler, {}, false);
    ASSERT_EQ(grants.size(), 3U);
    for (std::uint16_t i = 0; i < 3; ++i) EXPECT_EQ(grants[i].ue, (slot * 3 + i) % 20);
  }
}

TEST(RoundRobin, ues_of_a_slot_share_its_prbs_evenly_and_what_one_does_not_need_goes_to_the_others) {
  RoundRobin scheduler(3, 3);
  Cell cell(3, 1'000'000'000);
  cell.facts[1].backlog_bytes = 1;
  const auto grants = cell.slot(scheduler, {}, false);
  ASSERT_EQ(grants.size(), 3U);
  EXPECT_EQ(grants[0].prbs + grants[1].prbs + grants[2].prbs, kPrbs);
  EXPECT_EQ(grants[1].prbs, 1);
  EXPECT_LE(std::abs(grants[0].prbs - grants[2].prbs), 1);
}

TEST(RoundRobin, a_ue_waits_for_one_turn_of_the_others_at_most) {
  constexpr std::size_t kUes = 33;
  RoundRobin scheduler(kUes, 4);
  Cell cell(kUes, 1'000'000'000);
  std::vector<int> waited(kUes);
  for (int slot = 0; slot < 200; ++slot) {
    for (int& slots : waited) ++slots;
    for (const Grant& grant : cell.slot(scheduler, {}, false)) waited[grant.ue] = 0;
    for (const int slots : waited) ASSERT_LE(slots, (static_cast<int>(kUes) + 3) / 4);
  }
}

// Round robin gives equal shares of PRBs, so a rate follows the channel. So does proportional fair: equal time, and
// each UE gets its channel's rate of it.
TEST(ProportionalFair, rates_are_in_proportion_to_the_channel) {
  constexpr std::size_t kUes = 10;
  ProportionalFair scheduler(kUes, kMost);
  Cell cell(kUes, 1'000'000'000);
  for (std::size_t ue = 0; ue < kUes; ++ue) cell.facts[ue].mcs = ue < 5 ? 4 : 27;
  for (int slot = 0; slot < 20'000; ++slot) (void)cell.slot(scheduler, {}, false);
  const double channel = static_cast<double>(mcs_at(McsTable::k64Qam, 27).efficiency()) /
                         static_cast<double>(mcs_at(McsTable::k64Qam, 4).efficiency());
  for (std::size_t ue = 0; ue < 5; ++ue)
    EXPECT_NEAR(static_cast<double>(cell.served[ue + 5]) / static_cast<double>(cell.served[ue]), channel,
                0.05 * channel);
}

// What round robin cannot do: each UE's channel is bad half of the time, and UEs are served while theirs is good.
TEST(ProportionalFair, a_channel_is_used_while_it_is_good) {
  constexpr std::size_t kUes = 10;
  const auto total = [](auto scheduler) {
    Cell cell(kUes, 1'000'000'000);
    Random random(3);
    for (int slot = 0; slot < 20'000; ++slot) {
      for (UeFacts& ue : cell.facts) {
        if (random.below(20) == 0) ue.mcs = random.below(2) == 0 ? 3 : 25;
      }
      (void)cell.slot(scheduler, {}, false);
    }
    EXPECT_GT(fairness(cell.served), 0.98);
    return std::accumulate(cell.served.begin(), cell.served.end(), std::uint64_t{0});
  };
  EXPECT_GT(static_cast<double>(total(ProportionalFair(kUes, kMost))),
            1.3 * static_cast<double>(total(RoundRobin(kUes, kMost))));
}

TEST(ProportionalFair, a_ue_that_was_idle_does_not_keep_the_others_waiting_for_long) {
  ProportionalFair scheduler(2, kMost);
  Cell cell(2, 1'000'000'000);
  cell.facts[1].backlog_bytes = 0;
  for (int slot = 0; slot < 10'000; ++slot) (void)cell.slot(scheduler, {}, false);
  cell.facts[1].backlog_bytes = 1'000'000'000;
  int alone = 0;
  while (cell.slot(scheduler, {}, false)[0].ue == 1) ++alone;
  EXPECT_LE(alone, 200);  // one window
}

// Each UE waits for 20 windows between two grants: averages that end at a floor would leave the bad channel out.
TEST(ProportionalFair, among_a_thousand_ues_the_one_with_the_worst_channel_gets_its_share_of_slots) {
  constexpr std::size_t kUes = 1000;
  ProportionalFair scheduler(kUes, kMost);
  Cell cell(kUes, 1'000'000'000, 27, 50);
  constexpr std::size_t kBad = kUes - 1;
  cell.facts[kBad].mcs = 0;
  std::vector<int> count(kUes);
  for (std::size_t slot = 0; slot < 10 * kUes; ++slot) {
    for (const Grant& grant : cell.slot(scheduler, {}, false)) ++count[grant.ue];
  }
  for (std::size_t ue = 0; ue < kUes; ++ue) ASSERT_NEAR(count[ue], 10, 2) << ue;
}

// Averages over one slot are equal for all that got nothing in it.
TEST(ProportionalFair, among_equals_the_one_that_waits_longest_comes_first) {
  constexpr std::size_t kUes = 20;
  ProportionalFair scheduler(kUes, kMost);
  Cell cell(kUes, 1'000'000'000, 10, 1);
  for (std::size_t slot = 0; slot < 100; ++slot) {
    const auto grants = cell.slot(scheduler, {}, false);
    ASSERT_EQ(grants.size(), 1U);
    ASSERT_EQ(grants[0].ue, slot % kUes);
  }
}

// The others come and go with a better channel, and each comes with an average that is as low.
TEST(ProportionalFair, no_ue_waits_longer_than_the_bound_while_others_come_and_go) {
  constexpr std::size_t kUes = 300;
  ProportionalFair scheduler(kUes, kMost);
  Cell cell(kUes, 0, 27, 1);
  cell.facts[0] = {.rnti = 1, .mcs = 0, .process = 0, .backlog_bytes = 1'000'000'000};
  std::uint64_t last = 0, longest = 0;
  for (std::uint64_t slot = 1; slot < 10'000; ++slot) {
    cell.facts[1 + slot % (kUes - 1)].backlog_bytes = 1'000'000;
    for (const Grant& grant : cell.slot(scheduler, {}, false)) {
      if (grant.ue == 0) last = slot;
      if (grant.ue != 0) cell.facts[grant.ue].backlog_bytes = 0;
    }
    longest = std::max(longest, slot - last);
  }
  EXPECT_GE(longest + 1, scheduler.longest_wait());
  EXPECT_LE(longest, scheduler.longest_wait() + kUes);
}

TEST(AverageRates, an_average_is_that_of_the_window_and_a_new_ue_begins_without_one) {
  AverageRates averages(2, 100);
  const Grant grant{.ue = 0, .tb_bytes = 1000};
  const Grant again{.retransmission = true, .ue = 1, .tb_bytes = 1000};
  const std::vector<Grant> grants{grant, again};
  for (int slot = 0; slot < 2000; ++slot) averages.update(grants);
  EXPECT_NEAR(averages.rates()[0], 1000, 1);
  EXPECT_EQ(averages.rates()[1], AverageRates::kLeast);  // a retransmission brings nothing new
  for (int slot = 0; slot < 100; ++slot) averages.update({});
  EXPECT_NEAR(averages.rates()[0], 366, 2);  // 1 / e
  averages.reset(0);
  EXPECT_EQ(averages.rates()[0], AverageRates::kLeast);
}

}  // namespace
}  // namespace splitplane::phy

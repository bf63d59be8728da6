#include "n3/reorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

#include "engine/test_environment.h"

namespace splitplane::datapath {
namespace {

using test::Bytes;
using Numbers = std::vector<std::uint16_t>;
constexpr BearerId kOrdered{7}, kOtherOrdered{8};
constexpr std::uint64_t kHz = 1000;  // one cycle a millisecond

// Packets that carry their own number; what comes out is read back and freed.
struct ReorderRig {
  test::Pool pool{512};
  N3Reorder reorder;
  std::uint64_t now = 0;
  Numbers passed;

  explicit ReorderRig(std::uint16_t window = 8, std::uint16_t timer_ms = 10) {
    reorder.open(kOrdered, {.window = window, .timer_ms = timer_ms}, kHz);
  }
  bool take(std::uint16_t sn, BearerId id = kOrdered) {
    rte_mbuf* m = pool.make({static_cast<std::uint8_t>(sn >> 8), static_cast<std::uint8_t>(sn)});
    const auto verdict = reorder.take(m, id, sn, now);
    if (verdict != N3Reorder::Verdict::kTaken) rte_pktmbuf_free(m);
    if (verdict == N3Reorder::Verdict::kPass) passed.push_back(sn);
    return verdict != N3Reorder::Verdict::kOld;
  }
  // Packets that passed left before packets that became ready.
  Numbers ready() {
    Numbers numbers = std::exchange(passed, {});
    Burst burst;
    while (reorder.take_ready(burst) != 0) {
      for (unsigned i = 0; i < burst.size; ++i) {
        const std::uint8_t* at = octets(burst.mbuf[i]);
        numbers.push_back(static_cast<std::uint16_t>(at[0] << 8 | at[1]));
        rte_pktmbuf_free(burst.mbuf[i]);
      }
    }
    return numbers;
  }
  Numbers after(const Numbers& taken) {
    for (const std::uint16_t sn : taken) EXPECT_TRUE(take(sn)) << sn;
    return ready();
  }
  ~ReorderRig() {
    reorder.release_all();
    (void)ready();
    EXPECT_EQ(reorder.held(), 0U);
  }
};

TEST(N3Reorder, packets_in_order_pass_at_once_and_the_number_wraps) {
  ReorderRig rig;
  EXPECT_EQ(rig.after({65534, 65535, 0, 1}), (Numbers{65534, 65535, 0, 1}));
  EXPECT_EQ(rig.reorder.held(), 0U);
}

TEST(N3Reorder, what_is_in_order_passes_unless_others_are_ready_before_it) {
  ReorderRig rig;
  EXPECT_TRUE(rig.take(10) && rig.take(11));
  EXPECT_EQ(rig.passed, (Numbers{10, 11}));
  EXPECT_TRUE(rig.take(13) && rig.take(12) && rig.take(14));
  EXPECT_EQ(rig.passed, (Numbers{10, 11, 12})) << "14 must not leave before 13";
  EXPECT_EQ(rig.ready(), (Numbers{10, 11, 12, 13, 14}));
}

TEST(N3Reorder, a_hole_holds_what_follows_until_it_is_filled) {
  ReorderRig rig;
  EXPECT_EQ(rig.after({10, 12, 13, 15}), Numbers{10});
  EXPECT_EQ(rig.reorder.held(kOrdered), 3U);
  EXPECT_EQ(rig.after({11}), (Numbers{11, 12, 13}));
  EXPECT_EQ(rig.after({14}), (Numbers{14, 15}));
  EXPECT_EQ(rig.reorder.given_up(), 0U);
}

TEST(N3Reorder, duplicates_and_latecomers_are_refused) {
  ReorderRig rig;
  EXPECT_EQ(rig.after({10, 12}), Numbers{10});
  EXPECT_FALSE(rig.take(12));
  EXPECT_FALSE(rig.take(10));
  EXPECT_EQ(rig.after({11}), (Numbers{11, 12}));
  EXPECT_FALSE(rig.take(11));
}

TEST(N3Reorder, the_timer_gives_up_the_holes_there_were_when_it_started) {
  ReorderRig rig;
  EXPECT_EQ(rig.after({10, 12}), Numbers{10});
  rig.now = 5;
  EXPECT_EQ(rig.after({14}), Numbers{});
  rig.now = 9;
  rig.reorder.expire(rig.now);
  EXPECT_EQ(rig.ready(), Numbers{});
  rig.now = 10;
  rig.reorder.expire(rig.now);
  EXPECT_EQ(rig.ready(), Numbers{12}) << "13 is not waited for since 10 ms yet";
  rig.now = 20;
  rig.reorder.expire(rig.now);
  EXPECT_EQ(rig.ready(), Numbers{14});
  EXPECT_EQ(rig.reorder.given_up(), 2U);
  EXPECT_FALSE(rig.take(11));
}

TEST(N3Reorder, a_packet_beyond_the_window_pushes_it_on) {
  ReorderRig rig(4);
  EXPECT_EQ(rig.after({10, 12, 13}), Numbers{10});
  EXPECT_EQ(rig.after({15}), (Numbers{12, 13})) << "11 fell out of the window";
  EXPECT_EQ(rig.after({14}), (Numbers{14, 15}));
}

TEST(N3Reorder, a_sender_that_begins_anew_is_followed_from_its_second_packet_on) {
  for (const std::uint16_t anew : Numbers{0, 39000, 43010, 60000}) {
    ReorderRig rig;
    EXPECT_EQ(rig.after({40000, 40002}), Numbers{40000});
    EXPECT_FALSE(rig.take(anew));
    const auto second = static_cast<std::uint16_t>(anew + 1), third = static_cast<std::uint16_t>(anew + 2);
    EXPECT_EQ(rig.after({second, third}), (Numbers{40002, second, third}));
  }
}

TEST(N3Reorder, one_packet_from_far_off_changes_nothing) {
  ReorderRig rig;
  EXPECT_EQ(rig.after({1000}), Numbers{1000});
  std::uint16_t next = 1001;
  for (const std::uint16_t far : Numbers{930, 931, 5000, 40000}) {  // 931 does not follow at once: no new order
    EXPECT_FALSE(rig.take(far)) << far;
    EXPECT_EQ(rig.after({next}), Numbers{next});
    ++next;
  }
  EXPECT_EQ(rig.reorder.given_up(), 0U);
}

TEST(N3Reorder, a_long_loss_is_no_new_beginning) {
  ReorderRig rig;
  EXPECT_EQ(rig.after({1000, 3000}), Numbers{1000});
  EXPECT_EQ(rig.after({3001}), Numbers{});
  rig.now = 10;
  rig.reorder.expire(rig.now);
  EXPECT_EQ(rig.ready(), (Numbers{3000, 3001}));
  EXPECT_EQ(rig.reorder.given_up(), 1999U);
}

TEST(N3Reorder, closing_a_bearer_makes_ready_what_it_holds_and_touches_no_other) {
  ReorderRig rig;
  rig.reorder.open(kOtherOrdered, {.window = 8, .timer_ms = 10}, kHz);
  EXPECT_TRUE(rig.take(1, kOtherOrdered) && rig.take(3, kOtherOrdered));
  EXPECT_EQ(rig.after({10, 12, 14}), (Numbers{1, 10}));
  rig.reorder.close(kOrdered);
  EXPECT_EQ(rig.ready(), (Numbers{12, 14}));
  EXPECT_EQ(rig.reorder.held(), 1U);
  EXPECT_EQ(rig.after({9}), Numbers{9}) << "not reordered any more";
}

TEST(N3Reorder, of_many_timers_the_oldest_end_first_and_a_burst_at_a_time) {
  ReorderRig rig;
  constexpr std::uint16_t kFlows = 100;
  Numbers want;
  for (std::uint16_t n = kFlows; n-- != 0;) {
    const BearerId id{1000U + n};
    rig.reorder.open(id, {.window = 8, .timer_ms = 10}, kHz);
    ++rig.now;
    EXPECT_TRUE(rig.take(static_cast<std::uint16_t>(10 * n), id));
    want.push_back(static_cast<std::uint16_t>(10 * n + 2));
    EXPECT_TRUE(rig.take(want.back(), id));
  }
  EXPECT_EQ(rig.ready().size(), kFlows);
  rig.reorder.expire(10 + 5);
  EXPECT_EQ(rig.ready(), Numbers(want.begin(), want.begin() + 5));
  rig.reorder.expire(10 + kFlows);
  EXPECT_EQ(rig.ready(), Numbers(want.begin() + 5, want.begin() + 5 + kBurst)) << "the others in the next rounds";
  while (rig.reorder.held() != 0) {
    rig.reorder.expire(10 + kFlows);
    EXPECT_LE(rig.ready().size(), kBurst);
  }
  EXPECT_EQ(rig.reorder.given_up(), kFlows);
}

TEST(N3Reorder, beyond_the_limit_the_oldest_hole_is_given_up) {
  ReorderRig rig;
  rig.reorder.open(kOtherOrdered, {.window = 8, .timer_ms = 10}, kHz);
  rig.reorder.limit(3);
  EXPECT_TRUE(rig.take(10) && rig.take(12));
  rig.now = 1;
  EXPECT_TRUE(rig.take(100, kOtherOrdered) && rig.take(102, kOtherOrdered) && rig.take(103, kOtherOrdered));
  EXPECT_EQ(rig.ready(), (Numbers{10, 100}));
  EXPECT_EQ(rig.after({14}), Numbers{12}) << "11 was waited for longest";
  EXPECT_EQ(rig.reorder.held(), 3U);
  EXPECT_EQ(rig.reorder.given_up(), 1U);
}

// Any permutation within the window comes out in order, and no packet is dropped or doubled. After losses, the
// remaining packets are in order.
TEST(N3Reorder, shuffles_within_the_window_come_out_in_order) {
  std::mt19937 random(1);
  for (unsigned round = 0; round < 200; ++round) {
    ReorderRig rig(16);
    const bool lossy = round % 2 != 0;
    std::vector<std::uint16_t> sent;
    for (std::uint16_t n = 0; n < 96; ++n) sent.push_back(static_cast<std::uint16_t>(65500 + n));
    for (auto at = sent.begin() + 1; at < sent.end(); at += 8) {  // the first stays first: it opens the window
      std::shuffle(at, std::min(at + 8, sent.end()), random);
    }
    Numbers want, got;
    for (const std::uint16_t sn : sent) {
      if (lossy && sn != sent.front() && random() % 10 == 0) continue;
      want.push_back(sn);
      EXPECT_TRUE(rig.take(sn)) << sn;
      for (const std::uint16_t n : rig.ready()) got.push_back(n);
    }
    while (rig.reorder.held() != 0) {
      rig.reorder.expire(rig.now += 1000);
      for (const std::uint16_t n : rig.ready()) got.push_back(n);
    }
    const auto order = [](std::uint16_t a, std::uint16_t b) {
      return static_cast<std::uint16_t>(a - 65500) < static_cast<std::uint16_t>(b - 65500);
    };
    std::sort(want.begin(), want.end(), order);
    EXPECT_EQ(got, want) << round;
  }
}

}  // namespace
}  // namespace splitplane::datapath

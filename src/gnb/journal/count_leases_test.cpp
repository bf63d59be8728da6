#include "gnb/journal/count_leases.h"

#include <gtest/gtest.h>

namespace splitplane::app {
namespace {

using namespace std::chrono_literals;
constexpr BearerId kBearer{0x04000001};

TEST(CountLeases, the_first_packet_asks_and_each_half_of_a_lease) {
  CountLeases leases;
  const auto first = leases.begin(kBearer, 18, 0, 0);
  EXPECT_EQ(first.mark, 0U);
  EXPECT_EQ(first.end, 65536U);
  auto now = CountLeases::Clock::now();
  const auto second = leases.asked(kBearer, now, 50ms);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->from, 65536U);
  EXPECT_EQ(second->lease.mark, 32768U);
  now += 10s;
  const auto third = leases.asked(kBearer, now, 50ms);
  EXPECT_EQ(third->heard, 32768U);
  EXPECT_EQ(third->lease.end, 32768U + 65536U);
  EXPECT_EQ(third->lease.mark, 65536U);
}

TEST(CountLeases, what_is_put_aside_gets_no_lease_until_it_is_back) {
  CountLeases leases;
  const auto first = leases.begin(kBearer, 18, 0, 0);
  auto aside = leases.put_aside(kBearer);
  EXPECT_FALSE(leases.asked(kBearer, CountLeases::Clock::now(), 50ms));
  leases.put_back(std::move(aside));
  const auto next = leases.asked(kBearer, CountLeases::Clock::now(), 50ms);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->from, first.end);
}

TEST(CountLeases, who_sends_faster_than_the_disk_writes_gets_longer_ones) {
  CountLeases leases;
  leases.begin(kBearer, 18, 0, 0);
  auto now = CountLeases::Clock::now();
  (void)leases.asked(kBearer, now, 50ms);
  now += 1ms;  // 32,768 packets in a millisecond
  const auto fast = leases.asked(kBearer, now, 50ms);
  EXPECT_NEAR(fast->lease.end - fast->heard, 3'276'800, 2);
  now += std::chrono::milliseconds(25);
  const auto steady = leases.asked(kBearer, now, 50ms);
  EXPECT_LE(steady->lease.end - steady->heard, 7'040'000U);
  now += 1h;
  const auto slow = leases.asked(kBearer, now, 50ms);
  EXPECT_LE(slow->lease.end - slow->heard, 7'040'000U) << "what was given is not taken back";
  now += 1h;
  EXPECT_EQ(leases.asked(kBearer, now, 50ms)->lease.mark - slow->lease.mark, 32768U);
}

TEST(CountLeases, with_12_bits_a_crash_is_never_a_step_that_a_receiver_takes_for_one_backwards) {
  CountLeases leases;
  leases.begin(kBearer, 12, 0, 0);
  auto now = CountLeases::Clock::now();
  for (int i = 0; i < 50; ++i) {
    const auto more = leases.asked(kBearer, now, 2s);
    EXPECT_LE(more->lease.end - more->heard, 1536U);
    EXPECT_GT(more->lease.mark, more->heard);
    now += 1ms;
  }
}

TEST(CountLeases, restarts_without_a_packet_never_step_over_half_of_the_sn_space) {
  for (const unsigned bits : {12U, 18U}) {
    std::uint32_t ahead = 0;
    for (int restart = 0; restart < 8; ++restart) ahead += lease_after_restart(bits, ahead);
    EXPECT_LT(ahead, 1U << (bits - 1));
    EXPECT_GE(lease_after_restart(bits, 1U << 30), 8U) << "a number, though no receiver may follow";
  }
}

TEST(CountLeases, crashes_and_clean_stops_without_a_packet_never_step_over_half_of_the_sn_space) {
  for (const unsigned bits : {12U, 18U}) {
    std::uint32_t next = 10, heard = 10;
    for (int crash = 0; crash < 8; ++crash) {
      CountLeases crashed, stopped;
      next = crashed.begin(kBearer, bits, next, next - heard).end;
      stopped.begin(kBearer, bits, next, next - heard);
      heard = stopped.heard(kBearer, next);
    }
    EXPECT_LT(next - 10, 1U << (bits - 1));
    CountLeases leases;
    leases.begin(kBearer, bits, next, next - heard);
    EXPECT_EQ(leases.heard(kBearer, next + 1), next + 1) << "a packet had the COUNT before";
  }
}

TEST(CountLeases, at_the_end_of_all_counts_nothing_is_left_to_ask_for) {
  CountLeases leases;
  const auto first = leases.begin(kBearer, 18, ran::kCountEnd - 100, 0);
  EXPECT_EQ(first.end, ran::kCountEnd);
  const auto last = leases.asked(kBearer, CountLeases::Clock::now(), 50ms);
  EXPECT_EQ(last->lease.end, ran::kCountEnd);
  EXPECT_EQ(last->lease.mark, ran::kCountEnd);
  EXPECT_EQ(leases.begin(kBearer, 18, ran::kCountEnd, 0).end, ran::kCountEnd);
}

TEST(CountLeases, of_a_bearer_that_is_gone_nothing_is_known) {
  CountLeases leases;
  leases.begin(kBearer, 18, 0, 0);
  leases.forget(kBearer);
  EXPECT_FALSE(leases.asked(kBearer, CountLeases::Clock::now(), 50ms));
}

TEST(CountLeases, a_bearer_that_comes_from_a_card_goes_on_with_the_cards_lease) {
  CountLeases leases;
  const auto lease = leases.adopt(kBearer, 18, 500, 2000);
  EXPECT_EQ(lease.end, 2000U) << "COUNTs below it are on the disk as given out";
  EXPECT_EQ(lease.mark, 500U) << "the first packet asks for more";
  const auto more = leases.asked(kBearer, CountLeases::Clock::now(), 50ms);
  ASSERT_TRUE(more);
  EXPECT_EQ(more->from, 2000U);
  EXPECT_EQ(more->heard, 500U);
  EXPECT_EQ(more->lease.end, 500U + 65536U);
  EXPECT_EQ(leases.heard(kBearer, 500), 500U) << "the receiver has all that the card sent";
}

TEST(CountLeases, a_bearer_that_comes_from_a_card_at_the_end_of_its_lease_has_none) {
  CountLeases leases;
  EXPECT_EQ(leases.adopt(kBearer, 12, 2000, 2000).end, 2000U);
  EXPECT_EQ(leases.asked(kBearer, CountLeases::Clock::now(), 50ms)->lease.end, 2000U + 1024U);
}

TEST(CountLeases, what_was_asked_for_before_a_bearer_came_here_is_void) {
  CountLeases leases;
  EXPECT_FALSE(leases.is_earlier(kBearer, 0)) << "of a bearer that is not here nothing is known";
  leases.begin(kBearer, 18, 0, 0);
  EXPECT_FALSE(leases.is_earlier(kBearer, 0));
  leases.forget(kBearer);  // it moved to a card, and back
  leases.adopt(kBearer, 18, 500, 2000);
  EXPECT_TRUE(leases.is_earlier(kBearer, 499));
  EXPECT_FALSE(leases.is_earlier(kBearer, 500)) << "the first packet asks";
}

}  // namespace
}  // namespace splitplane::app

#include "card/protocol/lease.h"

#include <gtest/gtest.h>

namespace splitplane::app {
namespace {

using namespace std::chrono_literals;

TEST(CardLease, never_reaches_half_of_the_sn_space_ahead) {
  for (const unsigned bits : {12U, 18U}) {
    for (const double rate : {0.0, 1e3, 1e5, 1e9}) {
      EXPECT_LT(lease_length(bits, rate), 1U << (bits - 1)) << bits << " bits, " << rate;
      EXPECT_GE(lease_length(bits, rate), lease_size(bits).least);
    }
  }
  EXPECT_EQ(lease_length(18, 0), 4096U);
  EXPECT_EQ(lease_length(12, 0), 1792U);
  EXPECT_EQ(lease_length(18, 40000), 10000U) << "what a fast bearer sends in a quarter of a second";
}

// The last 1,023 are for what the host returns.
TEST(CardLease, is_renewed_when_half_of_its_direct_part_is_used) {
  EXPECT_EQ(renewed_lease(18, 1536, 4096, 0), std::nullopt);
  EXPECT_EQ(renewed_lease(18, 1537, 4096, 0), 1537U + 4096U);
  EXPECT_EQ(renewed_lease(18, 4096, 4096, 0), 8192U);
  EXPECT_EQ(renewed_lease(12, 384, 1792, 1e6), std::nullopt);
  EXPECT_EQ(renewed_lease(12, 385, 1792, 1e6), 385U + 1792U);
  EXPECT_EQ(renewed_lease(18, 2000, 4096, 1e6), 2000U + 65536U) << "faster now: more ahead";
}

TEST(CardLease, of_a_bearer_whose_worker_asks_is_renewed_when_a_quarter_of_it_is_used) {
  EXPECT_EQ(lengthened_lease(12, 447, 1792, 0), std::nullopt);
  EXPECT_EQ(lengthened_lease(12, 448, 1792, 0), 448U + 1792U);
  EXPECT_EQ(lengthened_lease(12, ran::kCountEnd - 10, ran::kCountEnd, 0), std::nullopt) << "no later one";
}

TEST(CardLease, ends_with_the_last_count) {
  constexpr std::uint32_t kEnd = ran::kCountEnd;
  EXPECT_EQ(renewed_lease(18, kEnd - 5000, kEnd - 4000, 0), kEnd - 5000 + 4096);
  EXPECT_EQ(renewed_lease(18, kEnd - 3000, kEnd - 2000, 0), kEnd);
  EXPECT_EQ(renewed_lease(18, kEnd - 1000, kEnd, 1e9), std::nullopt) << "no later one";
  EXPECT_EQ(renewed_lease(18, kEnd, kEnd, 0), std::nullopt);
  EXPECT_EQ(within_counts(kEnd - 10, 4096), 10U);
  EXPECT_EQ(within_counts(kEnd, 4096), 0U);
}

TEST(CardLease, restarts_without_a_packet_never_add_up_to_half_of_the_sn_space) {
  for (const unsigned bits : {12U, 18U}) {
    const std::uint32_t half = 1U << (bits - 1);
    std::uint32_t ahead = 0;
    for (int restart = 0; restart < 1000; ++restart) {
      ahead += first_lease(bits, ahead, 0);
      ASSERT_LT(ahead, half) << bits << " bits, restart " << restart;
    }
    EXPECT_EQ(ahead, half - 1) << "each but the last few could send";
    EXPECT_EQ(first_lease(bits, half + 5, 0), 0U);
  }
  EXPECT_EQ(first_lease(12, 0, 0), 1792U);
  EXPECT_EQ(first_lease(12, 1792, 0), 128U);
  EXPECT_EQ(first_lease(18, 4096, 0), 4096U);
}

TEST(CardLease, that_the_numbers_have_run_past_is_renewed_from_where_they_are) {
  EXPECT_EQ(left_of_lease(10, 5), -5) << "numbers that an earlier lease allowed";
  EXPECT_EQ(renewed_lease(18, 10, 5, 0), 4106U);
}

TEST(CardLease, a_bearer_is_looked_at_before_its_lease_can_be_used_up) {
  EXPECT_EQ(next_lease_look(0, 4096, 0, 10ms), 10ms);
  EXPECT_EQ(next_lease_look(0, 4096, 100, 10ms), 10ms);
  EXPECT_EQ(next_lease_look(0, 4096, 153650, 10ms), 5ms) << "a quarter of the 20 ms that its direct part lasts";
  EXPECT_EQ(next_lease_look(0, 4096, 1e9, 10ms), 2ms);
  EXPECT_EQ(next_lease_look(3073, 4096, 100, 10ms), 2ms);
  EXPECT_EQ(next_lease_look(4096, 4096, 0, 10ms), 10ms) << "the worker of a bearer whose packets wait asks";
}

}  // namespace
}  // namespace splitplane::app

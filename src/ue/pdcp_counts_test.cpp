#include "ue/pdcp_counts.h"

#include <gtest/gtest.h>

#include "ran/count_lease.h"

namespace splitplane::ue {
namespace {

const ran::BearerConfig kBearer{.pdcp_sn_bits = 12};

TEST(PdcpCounts, a_bearer_that_is_new_at_both_ends_begins_with_0) {
  const FirstCounts first = first_counts(kBearer, {}, nullptr);
  EXPECT_EQ(first.tx_next.value, 0U);
  EXPECT_EQ(first.rx_deliv.value, 0U);
}

TEST(PdcpCounts, what_the_gnbs_rlc_still_has_is_waited_for) {
  const FirstCounts first = first_counts(kBearer, {.pdcp_downlink = 100, .rlc_unacked = 30}, nullptr);
  EXPECT_EQ(first.rx_deliv.value, 70U);
  EXPECT_EQ(first_counts(kBearer, {.pdcp_downlink = 5, .rlc_unacked = 30}, nullptr).rx_deliv.value, 0U);
}

TEST(PdcpCounts, an_earlier_run_may_have_used_a_quarter_of_the_numbers) {
  EXPECT_EQ(first_counts(kBearer, {.pdcp_uplink = 100}, nullptr).tx_next.value, 100U + 1024U);
  EXPECT_EQ(first_counts(kBearer, {.pdcp_uplink = ran::kCountEnd - 1}, nullptr).tx_next.value, ran::kCountEnd);
}

TEST(PdcpCounts, what_this_run_used_is_never_used_again) {
  const datapath::BearerKeys::Used used{.tx_next = 50, .rx_next = 60};
  FirstCounts first = first_counts(kBearer, {.pdcp_downlink = 10, .pdcp_uplink = 10}, &used);
  EXPECT_EQ(first.tx_next.value, 50U);
  EXPECT_EQ(first.rx_deliv.value, 60U);
  first = first_counts(kBearer, {.pdcp_downlink = 90, .pdcp_uplink = 80}, &used);
  EXPECT_EQ(first.tx_next.value, 80U);
  EXPECT_EQ(first.rx_deliv.value, 90U);
}

}  // namespace
}  // namespace splitplane::ue

#include "card/link/peers.h"

#include <gtest/gtest.h>

namespace splitplane::app {
namespace {

nic::CardPeer upf(unsigned number, std::uint8_t last) {
  return {.number = number, .to = IpAddress::v4({10, 100, 0, last}), .max_payload = 1400};
}

TEST(LinkPeers, a_number_that_has_meant_one_upf_is_set_at_once) {
  LinkPeers peers;
  EXPECT_FALSE(peers.next(true));
  peers.set(upf(3, 50));
  const auto request = peers.next(false);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->number, 3U);
  EXPECT_EQ(request->peer->to, upf(3, 50).to);
  EXPECT_FALSE(peers.has_work());
}

TEST(LinkPeers, a_number_gets_another_upf_only_when_no_bearer_means_the_first) {
  LinkPeers peers;
  peers.set(upf(0, 50));
  ASSERT_TRUE(peers.next(true));
  peers.unset(0);
  peers.set(upf(0, 52));
  const auto first = peers.next(false);
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->peer) << "it is unset first";
  EXPECT_FALSE(peers.next(false)) << "bearers on the card may still mean the first UPF";
  EXPECT_TRUE(peers.has_work());
  const auto second = peers.next(true);
  ASSERT_TRUE(second && second->peer);
  EXPECT_EQ(second->peer->to, upf(0, 52).to);
  EXPECT_FALSE(peers.has_work());
}

TEST(LinkPeers, a_request_that_failed_is_made_again) {
  LinkPeers peers;
  peers.unset(7);
  peers.failed(*peers.next(true));
  const auto unset = peers.next(false);
  ASSERT_TRUE(unset);
  EXPECT_FALSE(unset->peer);
  EXPECT_FALSE(peers.has_work());
  peers.set(upf(8, 1));
  peers.failed(*peers.next(true));
  EXPECT_TRUE(peers.next(true)->peer);
}

TEST(LinkPeers, a_card_that_is_reached_gets_all_upfs_and_a_card_with_foreign_bearers_forgets_them_first) {
  LinkPeers peers;
  peers.set(upf(1, 51));
  ASSERT_TRUE(peers.next(true));
  peers.send_all();
  EXPECT_TRUE(peers.next(false)->peer);
  peers.unset_all_first();
  unsigned unset = 0;
  for (auto request = peers.next(false); request; request = peers.next(false)) unset += request->peer ? 0 : 1;
  EXPECT_EQ(unset, 256U);
  EXPECT_EQ(peers.next(true)->number, 1U);
  EXPECT_FALSE(peers.has_work());
}

TEST(LinkPeers, a_card_that_runs_anew_needs_no_unsetting) {
  LinkPeers peers;
  peers.set(upf(1, 51));
  ASSERT_TRUE(peers.next(true));
  peers.unset_all_first();
  peers.begin_anew();
  const auto request = peers.next(false);  // number 0, without a UPF
  EXPECT_FALSE(request->peer);
  EXPECT_TRUE(peers.next(false)->peer) << "number 1 is set at once";
}

}  // namespace
}  // namespace splitplane::app

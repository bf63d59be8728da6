#include "gnb/control/peer_table.h"

#include "gnb/control/test_parts.h"

namespace splitplane::gnb {
namespace {

using test::Hanging;
using test::kOtherUpf;
using test::kUpf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

IpAddress upf(unsigned i) {
  return IpAddress::v4({10, 101, static_cast<std::uint8_t>(i >> 8), static_cast<std::uint8_t>(i)});
}

TEST(UpfNumbers, a_number_is_free_again_when_its_last_bearer_is_gone) {
  UpfNumbers numbers;
  EXPECT_EQ(numbers.free_below(2), 0U);
  EXPECT_TRUE(numbers.join(0, kUpf));
  EXPECT_FALSE(numbers.join(0, kUpf));
  EXPECT_TRUE(numbers.join(*numbers.free_below(2), kOtherUpf));
  EXPECT_EQ(numbers.find(kOtherUpf), 1U);
  EXPECT_FALSE(numbers.free_below(2));
  EXPECT_FALSE(numbers.leave(kUpf)) << "one bearer still goes there";
  EXPECT_EQ(numbers.leave(kUpf), 0U);
  EXPECT_FALSE(numbers.find(kUpf));
  EXPECT_FALSE(numbers.leave(kUpf)) << "it has no bearer";
  EXPECT_EQ(numbers.free_below(2), 0U);
}

class PeerTableTest : public test::PartsTest {
 protected:
  [[nodiscard]] Locked lock() { return parts_->control.lock(); }
  Expected<PeerTable::Joined> join(const IpAddress& ip, std::size_t worker = 0) {
    return parts_->peers.join(lock(), parts_->worker(worker), ip);
  }
  [[nodiscard]] const datapath::N3Peer& peer(PeerId id, std::size_t worker = 0) {
    return parts_->worker(worker).gnb->peers[id.value];
  }
};

TEST_F(PeerTableTest, bearers_towards_one_upf_share_its_number) {
  const auto first = join(kUpf), second = join(kUpf), other = join(kOtherUpf);
  ASSERT_TRUE(first && second && other);
  EXPECT_EQ(first->id.value, second->id.value);
  EXPECT_NE(first->id.value, other->id.value);
  EXPECT_TRUE(first->must_be_asked);
  EXPECT_FALSE(second->must_be_asked) << "the first bearer has asked already";
  EXPECT_NE(peer(first->id).header_bytes, 0U);
  EXPECT_FALSE(peer(first->id).resolved);
}

TEST_F(PeerTableTest, it_counts_the_bearers_of_all_workers) {
  ASSERT_TRUE(join(kUpf, 0) && join(kUpf, 1) && join(kOtherUpf, 1));
  EXPECT_EQ(bearers_towards(kUpf), 2U);
  EXPECT_THAT(PeerTable::upfs(parts_->n3_interface()), ElementsAre(kUpf, kOtherUpf));
  parts_->peers.leave(lock(), parts_->worker(1), kOtherUpf);
  EXPECT_EQ(bearers_towards(kOtherUpf), 0U);
  EXPECT_THAT(PeerTable::upfs(parts_->n3_interface()), ElementsAre(kUpf));
}

TEST_F(PeerTableTest, a_number_goes_to_the_next_upf) {
  const auto first = join(kUpf);
  parts_->peers.leave(lock(), parts_->worker(0), kUpf);
  const auto next = join(kOtherUpf);
  ASSERT_TRUE(first && next);
  EXPECT_EQ(next->id.value, first->id.value);
}

TEST_F(PeerTableTest, a_worker_sends_to_as_many_upfs_as_its_table_holds) {
  for (unsigned i = 0; i < datapath::kMaxPeers; ++i) ASSERT_TRUE(join(upf(i)));
  const auto refused = join(kUpf);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("sends to 256 UPFs already"));
  EXPECT_TRUE(join(upf(9))) << "it is one of those";
  EXPECT_TRUE(join(kUpf, 1)) << "each worker has its table";
}

TEST_F(PeerTableTest, a_family_without_an_address_of_ours_is_refused) {
  const auto refused = join(IpAddress::v6(datapath::test::kUpfIpv6));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("N3 port n3 has no address of that family"));
}

TEST_F(PeerTableTest, nothing_changes_when_the_worker_does_not_answer) {
  const Hanging hanging(parts_->worker(0));
  const auto refused = join(kUpf);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("worker w0 does not answer; nothing was changed"));
  EXPECT_EQ(bearers_towards(kUpf), 0U);
}

TEST_F(PeerTableTest, a_gateways_mac_address_resolves_every_upf_behind_it) {
  GnbConfig config = test::small_config();
  const IpAddress gateway = IpAddress::v4({10, 100, 0, 254});
  config.n3[0].gateway_ipv4 = gateway;
  make(config);
  const auto first = join(kUpf), second = join(kOtherUpf, 1);
  ASSERT_TRUE(first && second);
  EXPECT_THAT(PeerTable::next_hops(parts_->n3_interface()), ElementsAre(gateway));
  EXPECT_TRUE(parts_->peers.tell(lock(), parts_->n3_interface(), kUpf, test::kUpfMac));
  EXPECT_FALSE(peer(first->id).resolved) << "the UPF is not on the link";
  EXPECT_TRUE(parts_->peers.tell(lock(), parts_->n3_interface(), gateway, test::kUpfMac));
  EXPECT_TRUE(peer(first->id).resolved);
  EXPECT_TRUE(peer(second->id, 1).resolved);
  EXPECT_TRUE(parts_->peers.tell(lock(), parts_->n3_interface(), gateway, std::nullopt));
  EXPECT_FALSE(peer(first->id).resolved);
}

TEST_F(PeerTableTest, a_worker_that_was_not_told_is_reported_and_the_others_know) {
  ASSERT_TRUE(join(kUpf, 0));
  const auto second = join(kUpf, 1);
  ASSERT_TRUE(second);
  const Hanging hanging(parts_->worker(0));
  EXPECT_FALSE(parts_->peers.tell(lock(), parts_->n3_interface(), kUpf, test::kUpfMac));
  EXPECT_TRUE(peer(second->id, 1).resolved);
}

TEST_F(PeerTableTest, a_configured_mac_address_needs_no_question) {
  GnbConfig config = test::small_config();
  config.n3[0].peer_mac = test::kUpfMac;
  make(config);
  const auto joined = join(kUpf);
  ASSERT_TRUE(joined);
  EXPECT_FALSE(joined->must_be_asked);
  EXPECT_TRUE(peer(joined->id).resolved);
}

TEST_F(PeerTableTest, a_smaller_mtu_shortens_what_goes_to_each_upf) {
  GnbConfig config = test::small_config();
  config.n3[0].peer_mac = test::kUpfMac;
  make(config);
  const auto joined = join(kUpf);
  ASSERT_TRUE(joined);
  const unsigned before = peer(joined->id).max_payload;
  ASSERT_TRUE(parts_->peers.take_mtu(lock(), "n3", 1400));
  EXPECT_EQ(peer(joined->id).max_payload, before - 100);
  EXPECT_EQ(parts_->worker(0).gnb->n3.mtu, 1400);
  ASSERT_TRUE(parts_->peers.take_mtu(lock(), "air", 1000));
  EXPECT_EQ(parts_->worker(0).gnb->n3.mtu, 1400) << "that is another port";
  const Hanging hanging(parts_->worker(0));
  EXPECT_FALSE(parts_->peers.take_mtu(lock(), "n3", 1300));
}

}  // namespace
}  // namespace splitplane::gnb

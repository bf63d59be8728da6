// The numbers that a card gives: through every wrap of RLC and PDCP they are those of the host, with a poll every
// pollPDU SDUs, and never outside the bearer's lease.
#include <gtest/gtest.h>

#include "card/test_hosts.h"

namespace splitplane::nic {
namespace {

using datapath::FeatureSet;
using datapath::test::N3Frame;
using test::Alone;
using test::Outcome;
using test::TestBearer;
using test::Together;

std::unique_ptr<Card> make_card(const char* program) {
  const auto spec = read_spec(spec_path("", program));
  EXPECT_TRUE(spec) << spec.error().message;
  if (!spec) return nullptr;
  auto card = Card::make(*spec, {.vfs = test::kHostVfs, .punt_n3 = test::kVfN3, .punt_air = test::kVfAir});
  EXPECT_TRUE(card) << card.error().message;
  return card ? std::move(*card) : nullptr;
}

TestBearer bearer(std::uint32_t index, unsigned sn_bits, std::uint16_t poll_pdu) {
  TestBearer b;
  b.config.id = BearerId{test::teid(index)};
  b.config.rlc_sn_bits = b.config.pdcp_sn_bits = static_cast<std::uint8_t>(sn_bits);
  b.config.poll_pdu = poll_pdu;
  b.place = Place::kCard;
  return b;
}

class CardNumbersTest : public testing::Test {
 protected:
  std::vector<rte_mbuf*> packets(const TestBearer& b, unsigned n) {
    const auto frame = N3Frame{.teid = b.id(), .payload = datapath::test::inner_packet(41)}.make();
    std::vector<rte_mbuf*> mbufs;
    for (unsigned i = 0; i < n; ++i) mbufs.push_back(pool.make(frame));
    return mbufs;
  }
  test::Pool pool{512};
};

TEST_F(CardNumbersTest, wrap_as_the_hosts_with_twelve_and_eighteen_bits) {
  std::vector<TestBearer> bearers{bearer(1, 12, 7), bearer(2, 18, 32)};
  bearers[1].next_count = 100;  // RLC and PDCP do not wrap together
  auto card = make_card("gnb-mat");
  ASSERT_TRUE(card);
  Together<FeatureSet::mat> together(std::move(card), bearers, pool, {});
  Alone<FeatureSet::mat> alone(bearers, pool, {});
  for (const TestBearer& b : bearers) {
    const std::uint32_t most = (1U << b.config.rlc_sn_bits) + 1000;
    for (std::uint32_t sent = 0; sent < most; sent += 64) {
      together.renew_leases();
      const Outcome expected = alone.receive(packets(b, 64), true);
      const Outcome got = together.receive(packets(b, 64), true);
      ASSERT_EQ(got, expected) << "after " << sent << " packets of " << unsigned{b.config.rlc_sn_bits} << " bits";
      ASSERT_EQ(got.air.size(), 64U);
      ASSERT_EQ(together.last().to_host, 0U);
    }
    EXPECT_EQ(together.card->numbers(b.config.id)->pdcp_next, alone.host.line(b).pdcp_tx_next);
  }
}

TEST_F(CardNumbersTest, end_where_the_lease_ends_and_go_on_when_it_is_renewed) {
  const TestBearer b = bearer(1, 18, 0);
  auto card = make_card("gnb-mat");
  ASSERT_TRUE(card);
  Together<FeatureSet::mat> together(std::move(card), {b}, pool, {});
  const auto send = [&](unsigned n) { return together.receive(packets(b, n), true); };
  ASSERT_TRUE(together.card->set_leases(std::array{CardLease{b.config.id, 100}}));
  EXPECT_EQ(send(90).air.size(), 90U);
  const Outcome at_the_end = send(30);
  EXPECT_EQ(at_the_end.air.size(), 10U);
  EXPECT_EQ(at_the_end.drops, (std::map<std::string, std::uint64_t>{{"lease_exhausted", 20}}));
  EXPECT_EQ(together.card->numbers(b.config.id)->pdcp_next, 100U);
  EXPECT_TRUE(send(5).air.empty());
  ASSERT_TRUE(together.card->set_leases(std::array{CardLease{b.config.id, 200}}));
  EXPECT_EQ(send(40).air.size(), 40U);
  EXPECT_EQ(together.card->numbers(b.config.id)->pdcp_next, 140U);
}

TEST_F(CardNumbersTest, are_told_with_what_a_new_host_needs) {
  const TestBearer b = bearer(1, 12, 0);
  auto card = make_card("gnb-mat");
  ASSERT_TRUE(card);
  CardBearer entry = test::card_bearer(b);
  entry.next_count = 1500;
  entry.lease = 1500;
  entry.ahead = 2048;
  const auto refused = card->install(std::span(&entry, 1));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("its COUNTs begin 2048 ahead; allowed: less than 2048"), std::string::npos);
  entry.ahead = 1400;
  ASSERT_TRUE(card->install(std::span(&entry, 1)));
  const auto numbers = [&] { return *card->numbers(b.config.id); };
  EXPECT_EQ(numbers().ahead, 1400U);
  EXPECT_EQ(numbers().lease_end, 3000U);
  auto frames = packets(b, 1);
  card->process(frames.data(), 1, kN3Port);
  for (rte_mbuf* m : std::exchange(card->out(kAirPort).mbufs, {})) rte_pktmbuf_free(m);
  EXPECT_EQ(numbers().pdcp_next, 1501U);
  EXPECT_EQ(numbers().ahead, 0U) << "this the receiver may have seen";
  ASSERT_TRUE(card->set_leases(std::array{CardLease{b.config.id, 3100}}));
  EXPECT_EQ(numbers().lease_end, 3100U);
}

TEST_F(CardNumbersTest, are_leased_to_all_bearers_of_a_call_or_to_none) {
  const TestBearer one = bearer(1, 18, 0), other = bearer(2, 18, 0);
  auto card = make_card("gnb-mat");
  ASSERT_TRUE(card);
  Together<FeatureSet::mat> together(std::move(card), {one, other}, pool, {});
  ASSERT_EQ(together.receive(packets(other, 50), true).air.size(), 50U);
  const std::array leases{CardLease{one.config.id, 10}, CardLease{other.config.id, 49}};  // the second has sent 50
  ASSERT_FALSE(together.card->set_leases(leases));
  EXPECT_EQ(together.receive(packets(one, 20), true).air.size(), 20U) << "the first bearer's lease was cut";
  ASSERT_TRUE(together.card->set_leases(std::array{CardLease{one.config.id, 30}, CardLease{other.config.id, 60}}));
  EXPECT_EQ(together.receive(packets(one, 20), true).air.size(), 10U);
  EXPECT_EQ(together.receive(packets(other, 20), true).air.size(), 10U);
}

TEST_F(CardNumbersTest, are_read_in_the_order_of_identities_whatever_came_and_went) {
  auto card = make_card("gnb-mat");
  ASSERT_TRUE(card);
  const auto install = [&](std::vector<std::uint32_t> indices) {
    std::vector<CardBearer> entries;
    for (const std::uint32_t index : indices) entries.push_back(test::card_bearer(bearer(index, 18, 0)));
    return card->install(entries);
  };
  const auto seen = [&](std::uint32_t after, std::size_t limit) {
    std::vector<std::uint32_t> indices;
    for (const auto& [id, numbers] : card->numbers_after(after == 0 ? 0 : test::teid(after), limit))
      indices.push_back(ran::index_of(id.value));
    return indices;
  };
  using Indices = std::vector<std::uint32_t>;
  ASSERT_TRUE(install({40, 7, 30}));
  ASSERT_TRUE(install({5, 30, 50, 20}));
  EXPECT_FALSE(install({60, 61, 60}));
  EXPECT_EQ(seen(0, 100), (Indices{5, 7, 20, 30, 40, 50}));
  EXPECT_EQ(seen(7, 3), (Indices{20, 30, 40}));
  EXPECT_EQ(seen(6, 1), (Indices{7}));
  EXPECT_EQ(seen(50, 3), Indices{});
  ASSERT_TRUE(card->remove(std::array{BearerId{test::teid(50)}, BearerId{test::teid(5)}, BearerId{test::teid(30)}}));
  EXPECT_EQ(seen(0, 100), (Indices{7, 20, 40}));
  auto frames = packets(bearer(20, 18, 0), 3);
  card->process(frames.data(), 3, kN3Port);
  EXPECT_EQ(card->numbers_after(test::teid(7), 1).front().second.pdcp_next, 3U);
  for (rte_mbuf* m : std::exchange(card->out(kAirPort).mbufs, {})) rte_pktmbuf_free(m);
}

// docs/design/nic.md, `in_flight`: packets on their way through the host come first. The first packet that finds none
// of these is the first that the card numbers directly.
TEST_F(CardNumbersTest, of_a_bearer_that_moves_here_follow_what_is_still_at_the_host) {
  TestBearer b = bearer(1, 18, 0);
  auto card = make_card("gnb-mat");
  ASSERT_TRUE(card);
  CardBearer entry = test::card_bearer(b);
  entry.in_flight = 1;  // a packet that the host got before the bearer moved
  ASSERT_TRUE(card->install(std::span(&entry, 1)));
  test::TestHost<FeatureSet::mat> host({b}, pool, {.behind_card = true});
  const auto numbers = [&] { return *card->numbers(b.config.id); };
  const auto from_n3 = [&](unsigned n) {
    auto mbufs = packets(b, n);
    card->process(mbufs.data(), n, kN3Port);
  };
  const auto sent = [&](unsigned port) { return std::exchange(card->out(port).mbufs, {}); };
  const auto dropped = [](const std::vector<rte_mbuf*>& mbufs) {
    for (rte_mbuf* m : mbufs) rte_pktmbuf_free(m);
    return mbufs.size();
  };

  from_n3(3);
  auto at_host = sent(kFirstVf + test::kVfN3);
  ASSERT_EQ(at_host.size(), 3U);
  EXPECT_EQ(numbers().in_flight, 4U);
  auto earlier = packets(b, 1);
  at_host.insert(at_host.begin(), earlier[0]);
  host.receive(at_host, true);
  ASSERT_EQ(host.n3.size(), 4U) << "the host gives each of them back";
  auto returned = std::exchange(host.n3, {});
  card->process(returned.data(), 3, kFirstVf + test::kVfN3);
  EXPECT_EQ(dropped(sent(kAirPort)), 3U);
  EXPECT_EQ(numbers().in_flight, 1U);

  from_n3(1);  // one packet is still on its way
  auto last = sent(kFirstVf + test::kVfN3);
  ASSERT_EQ(last.size(), 1U);
  host.receive(last, true);
  card->process(returned.data() + 3, 1, kFirstVf + test::kVfN3);
  card->process(host.n3.data(), 1, kFirstVf + test::kVfN3);
  host.n3.clear();
  EXPECT_EQ(numbers().in_flight, 0U);
  EXPECT_EQ(numbers().pdcp_next, 5U);
  from_n3(2);
  EXPECT_EQ(dropped(sent(kFirstVf + test::kVfN3)), 0U);
  EXPECT_EQ(dropped(sent(kAirPort)), 4U);
  EXPECT_EQ(numbers().pdcp_next, 7U);
}

}  // namespace
}  // namespace splitplane::nic

// The numbers that a card gives: through every wrap of RLC and PDCP as the host does, with a poll every pollPDU SDUs,
// and never one outside the bearer's lease.
#include <gtest/gtest.h>

#include "nic/test_hosts.h"

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

class CardNumbers : public testing::Test {
 protected:
  std::vector<rte_mbuf*> packets(const TestBearer& b, unsigned n) {
    const auto frame = N3Frame{.teid = b.id(), .payload = datapath::test::inner_packet(41)}.make();
    std::vector<rte_mbuf*> mbufs;
    for (unsigned i = 0; i < n; ++i) mbufs.push_back(pool.make(frame));
    return mbufs;
  }
  test::Pool pool{512};
};

TEST_F(CardNumbers, wrap_as_the_hosts_with_twelve_and_eighteen_bits) {
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

TEST_F(CardNumbers, end_where_the_lease_ends_and_go_on_when_it_is_renewed) {
  const TestBearer b = bearer(1, 18, 0);
  auto card = make_card("gnb-mat");
  ASSERT_TRUE(card);
  Together<FeatureSet::mat> together(std::move(card), {b}, pool, {});
  const auto send = [&](unsigned n) { return together.receive(packets(b, n), true); };
  ASSERT_TRUE(together.card->set_lease(b.config.id, 100));
  EXPECT_EQ(send(90).air.size(), 90U);
  const Outcome at_the_end = send(30);
  EXPECT_EQ(at_the_end.air.size(), 10U);
  EXPECT_EQ(at_the_end.drops, (std::map<std::string, std::uint64_t>{{"lease_exhausted", 20}}));
  EXPECT_EQ(together.card->numbers(b.config.id)->pdcp_next, 100U);
  EXPECT_TRUE(send(5).air.empty());
  ASSERT_TRUE(together.card->set_lease(b.config.id, 200));
  EXPECT_EQ(send(40).air.size(), 40U);
  EXPECT_EQ(together.card->numbers(b.config.id)->pdcp_next, 140U);
}

// docs/nic.md, `armed`: packets that are on their way through the host come first, and the first one that finds none is
// the first that the card takes directly.
TEST_F(CardNumbers, of_an_armed_bearer_follow_what_is_still_at_the_host) {
  TestBearer b = bearer(1, 18, 0);
  b.place = Place::kArmed;
  auto card = make_card("gnb-mat");
  ASSERT_TRUE(card);
  CardBearer entry = test::card_bearer(b);
  entry.in_flight = 1;  // one that the host got before the bearer was armed
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

  from_n3(1);  // one is still out there
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

#include "gnb/datapath/bearer_lookup.h"

#include <gtest/gtest.h>

#include "gnb/datapath/test_gnb.h"

namespace splitplane::datapath {
namespace {

using test::Bytes;

// Memory for one table, aligned as it must be.
template <class Table>
struct TableMemory {
  explicit TableMemory(std::size_t entries) : lines(Table::bytes_needed(entries) / 64) {
    table.emplace(std::move(*Table::create(std::as_writable_bytes(std::span(lines)), entries, 42)));
  }
  struct alignas(64) Line {
    std::array<std::byte, 64> octets;
  };
  std::vector<Line> lines;
  std::optional<Table> table;
};

class BearerLookupTest : public ::testing::Test {
 protected:
  BearerLookupTest() {
    gnb.context->keys.teids.emplace(std::move(*teids.table));
    gnb.context->keys.ue_ipv4.emplace(std::move(*ipv4.table));
    gnb.context->keys.ue_ipv6.emplace(std::move(*ipv6.table));
  }

  ran::BearerConfig bearer(std::uint32_t index) const { return gnb.config(index); }
  // Sends G-PDUs through the downlink; what came out to the air.
  std::vector<Bytes> through(const std::vector<Bytes>& frames) {
    test::Taken taken;
    GnbDownlink<FeatureSet::mat, test::TestSink, NoProbe> downlink(*gnb.context, test::TestSink{&taken},
                                                                   test::TestSink{&taken});
    Burst burst = test::burst_of(gnb.pool, frames);
    downlink.process(burst);
    return taken.frames;
  }

  TableMemory<BearerLookup::Short> teids{64}, ipv4{64};
  TableMemory<BearerLookup::Long> ipv6{64};
  test::TestGnb gnb;
};

// A T-PDU to a UE's address.
Bytes ipv4_sdu(std::array<std::uint8_t, 4> destination) {
  Bytes sdu(40, 0);
  sdu[0] = 0x45;
  sdu[3] = 40;
  std::copy(destination.begin(), destination.end(), sdu.begin() + 16);
  return sdu;
}
Bytes ipv6_sdu(std::uint8_t last) {
  Bytes sdu(60, 0);
  sdu[0] = 0x60;
  sdu[5] = 20;
  sdu[24] = 0xfd;
  sdu[39] = last;
  return sdu;
}

TEST_F(BearerLookupTest, a_foreign_teid_leads_to_the_bearer_beside_one_of_ours) {
  ran::BearerConfig foreign = bearer(1);
  foreign.dl_teid = Teid{0xdeadbeef};
  ASSERT_TRUE(enter(gnb.context->keys, foreign));
  test::N3Frame ours = gnb.to_bearer(3), theirs = gnb.to_bearer(1), nobodys = gnb.to_bearer(1);
  theirs.teid = 0xdeadbeef;
  nobodys.teid = 0xdeadbee0;
  const auto out = through({theirs.make(), ours.make(), nobodys.make(), theirs.make()});
  ASSERT_EQ(out.size(), 3U);
  EXPECT_EQ(out[0], gnb.air_frame(1, 0, theirs.payload));
  EXPECT_EQ(out[1], gnb.air_frame(3, 0, ours.payload));
  EXPECT_EQ(out[2], gnb.air_frame(1, 1, theirs.payload));
  EXPECT_EQ(gnb.dropped(DropReason::teid_unknown), 1U);
  leave(gnb.context->keys, foreign);
  EXPECT_TRUE(through({theirs.make()}).empty());
}

TEST_F(BearerLookupTest, a_foreign_teid_that_looks_like_a_free_line_of_ours_is_found) {
  ran::BearerConfig foreign = bearer(1);
  foreign.dl_teid = Teid{test::TestGnb::teid(9)};
  ASSERT_TRUE(enter(gnb.context->keys, foreign));
  EXPECT_EQ(through({gnb.to_bearer(9).make()}).size(), 1U);
}

TEST_F(BearerLookupTest, the_ue_address_decides_and_the_teid_is_not_looked_at) {
  gnb.context->keys.by_ue_address = true;
  ran::BearerConfig one = bearer(1), two = bearer(2);
  one.ue_ipv4 = IpAddress::v4({10, 45, 0, 1});
  two.ue_ipv4 = IpAddress::v4({10, 45, 0, 2});
  two.ue_ipv6 = IpAddress::v6({0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7});
  ASSERT_TRUE(enter(gnb.context->keys, one));
  ASSERT_TRUE(enter(gnb.context->keys, two));
  const auto frame = [&](Bytes sdu) {
    test::N3Frame f = gnb.to_bearer(4);  // a TEID of another bearer
    f.payload = std::move(sdu);
    return f.make();
  };
  const auto out =
      through({frame(ipv4_sdu({10, 45, 0, 2})), frame(ipv6_sdu(7)), frame(ipv4_sdu({10, 45, 0, 1})),
               frame(ipv4_sdu({10, 45, 0, 3})), frame(ipv6_sdu(8)), frame(Bytes{0x45, 0, 0}), frame(Bytes(60, 0xff))});
  ASSERT_EQ(out.size(), 3U);
  EXPECT_EQ(out[0], gnb.air_frame(2, 0, ipv4_sdu({10, 45, 0, 2})));
  EXPECT_EQ(out[1], gnb.air_frame(2, 1, ipv6_sdu(7)));
  EXPECT_EQ(out[2], gnb.air_frame(1, 0, ipv4_sdu({10, 45, 0, 1})));
  EXPECT_EQ(gnb.dropped(DropReason::ue_unknown), 4U);
}

// The N3 frame of a flow.
test::N3Frame of_flow(std::uint32_t teid, std::uint8_t qfi) {
  return {.teid = teid, .extensions = {{wire::gtpu::kExtensionPsc, {0x00, qfi}}}};
}

TEST_F(BearerLookupTest, the_flow_of_a_session_names_the_bearer) {
  gnb.add_session(8);
  const std::uint32_t session = test::TestGnb::teid(8);
  const auto frame = [&](std::uint8_t qfi) { return of_flow(session, qfi); };
  test::N3Frame without = frame(2);
  without.extensions.clear();
  const Bytes sdu = without.payload;
  const auto out = through({frame(1).make(), frame(9).make(), gnb.to_bearer(1).make(), frame(2).make(),
                            frame(63 | 0x40).make(), without.make(), frame(0).make()});
  ASSERT_EQ(out.size(), 7U);
  EXPECT_EQ(out[0], gnb.air_frame(9, 0, sdu, false, false, Qfi{1}));
  EXPECT_EQ(out[1], gnb.air_frame(8, 0, sdu));  // no rule: the default bearer
  EXPECT_EQ(out[2], gnb.air_frame(1, 0, sdu));  // a session with one bearer
  EXPECT_EQ(out[3], gnb.air_frame(10, 0, sdu, false, false, Qfi{2}));
  EXPECT_EQ(out[4], gnb.air_frame(9, 1, sdu, false, true, Qfi{63}));
  EXPECT_EQ(out[5], gnb.air_frame(8, 1, sdu));  // no container: the default bearer and its qfi
  EXPECT_EQ(out[6], gnb.air_frame(8, 2, sdu, false, false, Qfi{0}));
  EXPECT_EQ(gnb.context->bearers.bearer_line(session)->received, 3U);
  EXPECT_EQ(gnb.context->stats.dropped(), 0U);
}

TEST_F(BearerLookupTest, a_session_is_found_by_a_foreign_teid_and_by_the_ue_address) {
  gnb.add_session(8);
  ran::BearerConfig first = bearer(8);
  first.dl_teid = Teid{0xdeadbeef};
  first.ue_ipv4 = IpAddress::v4({10, 45, 0, 1});
  ASSERT_TRUE(enter(gnb.context->keys, first));
  auto out = through({of_flow(0xdeadbeef, 1).make(), of_flow(0xdeadbeef, 3).make()});
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[0], gnb.air_frame(9, 0, test::N3Frame{}.payload, false, false, Qfi{1}));
  EXPECT_EQ(out[1], gnb.air_frame(8, 0, test::N3Frame{}.payload, false, false, Qfi{3}));
  leave(gnb.context->keys, first);
  gnb.context->keys.by_ue_address = true;
  ASSERT_TRUE(enter(gnb.context->keys, first));
  test::N3Frame frame = of_flow(test::TestGnb::teid(4), 2);  // a TEID of another bearer
  frame.payload = ipv4_sdu({10, 45, 0, 1});
  out = through({frame.make()});
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0], gnb.air_frame(10, 0, frame.payload, false, false, Qfi{2}));
}

TEST_F(BearerLookupTest, a_session_takes_packets_of_its_upf_and_of_its_instance_only) {
  gnb.add_session(8);
  gnb.context->n3.source_mask = ~0U;
  test::N3Frame stranger = of_flow(test::TestGnb::teid(8), 1);
  stranger.source = 0x0a6400ee;
  const std::uint32_t other_instance = test::TestGnb::teid(8) ^ 1U << 31;
  EXPECT_EQ(through({stranger.make(), of_flow(other_instance, 1).make(), of_flow(test::TestGnb::teid(11), 1).make()}),
            std::vector<Bytes>{});  // the last one is the spare identity
  EXPECT_EQ(gnb.dropped(DropReason::not_from_upf), 1U);
  EXPECT_EQ(gnb.dropped(DropReason::teid_unknown), 2U);
  EXPECT_EQ(gnb.context->bearers.drops(test::TestGnb::teid(9)).downlink, 1U);
}

TEST_F(BearerLookupTest, a_full_table_takes_none_of_a_bearers_keys) {
  BearerLookup keys;
  TableMemory<BearerLookup::Short> small(1), other(64);
  keys.by_ue_address = true;
  keys.teids.emplace(std::move(*other.table));
  keys.ue_ipv4.emplace(std::move(*small.table));
  ran::BearerConfig config = bearer(1);
  unsigned entered = 0;
  for (;; ++entered) {
    config.dl_teid = Teid{1000 + entered};
    config.ue_ipv4 = IpAddress::v4({10, 45, 1, static_cast<std::uint8_t>(entered)});
    if (!enter(keys, config)) break;
    ASSERT_LT(entered, 64U);
  }
  EXPECT_EQ(entered, 7U);  // one bucket
  EXPECT_EQ(keys.teids->size(), 7U);
  EXPECT_EQ(keys.ue_ipv4->size(), 7U);
  EXPECT_EQ(keys.ue_ipv4->stats().refused, 1U);
}

TEST_F(BearerLookupTest, without_room_a_foreign_teid_is_refused) {
  BearerLookup none;
  ran::BearerConfig config = bearer(1);
  EXPECT_TRUE(enter(none, config));
  config.dl_teid = Teid{5};
  EXPECT_FALSE(enter(none, config));
}

}  // namespace
}  // namespace splitplane::datapath

// Downlink packets of bearers that a card numbers: packets that the card passed up go back to it, and each is accounted
// for.
#include <gtest/gtest.h>

#include "gnb/datapath/test_gnb.h"

namespace splitplane::datapath {
namespace {

using test::Bytes;
using test::N3Frame;

template <FeatureSet F>
struct ReturnRig : test::TestGnb {
  ReturnRig() { downlink[1] = ran::make_on_card(config(1)); }
  void run(const std::vector<Bytes>& frames) {
    Burst burst = test::burst_of(pool, frames);
    received += burst.size;
    function.process(burst);
    expect_balance(received);
  }
  // The layout that the P4 programs read, written here independently.
  [[nodiscard]] Bytes returned(std::uint32_t index, std::uint8_t rqi_qfi, const Bytes& sdu) const {
    Bytes frame(context->air_header.begin(), context->air_header.end());
    frame.insert(frame.end(), {0x21, rqi_qfi, 0, 0});
    for (int shift = 24; shift >= 0; shift -= 8) frame.push_back(static_cast<std::uint8_t>(teid(index) >> shift));
    frame.insert(frame.end(), {static_cast<std::uint8_t>(sdu.size() >> 8), static_cast<std::uint8_t>(sdu.size())});
    frame.insert(frame.end(), sdu.begin(), sdu.end());
    return frame;
  }

  test::Taken air, back;
  GnbDownlink<F, test::TestSink, SampledCycles> function{*context, test::TestSink{&air}, test::TestSink{&back}};
  std::uint64_t received = 0;
};

template <class T>
class GnbReturned : public ::testing::Test {};
using WithBearers = ::testing::Types<std::integral_constant<FeatureSet, FeatureSet::mat>,
                                     std::integral_constant<FeatureSet, FeatureSet::clone_drop>,
                                     std::integral_constant<FeatureSet, FeatureSet::clone>>;
TYPED_TEST_SUITE(GnbReturned, WithBearers);

TYPED_TEST(GnbReturned, goes_back_without_a_number_while_the_host_serves_its_own) {
  ReturnRig<TypeParam::value> rig;
  N3Frame reflective = rig.to_bearer(1), plain = rig.to_bearer(1), tagged = rig.to_bearer(1);
  reflective.extensions = {{wire::gtpu::kExtensionPsc, {0x00, 0x40 | 33}}};
  plain.extensions.clear();
  tagged.tags = {7, 9};
  tagged.ip_options = Bytes{1, 1, 1, 1};
  rig.run({reflective.make(), rig.to_bearer(2).make(), plain.make(), tagged.make()});
  EXPECT_EQ(rig.back.frames,
            (std::vector<Bytes>{rig.returned(1, 0x40 | 33, reflective.payload), rig.returned(1, 9, plain.payload),
                                rig.returned(1, 9, tagged.payload)}));
  ASSERT_EQ(rig.air.frames.size(), 1U);
  EXPECT_EQ(rig.air.frames[0], rig.air_frame(2, 0, rig.to_bearer(2).payload));
  EXPECT_EQ(rig.context->stats.returned.get(), 3U);
  EXPECT_EQ(rig.downlink[1].received, 3U);
  EXPECT_EQ(rig.downlink[1].pdcp_tx_next, 0U) << "the card numbers it";
  EXPECT_EQ(rig.at_stage(Stage::dl_headers), 1U);
  (void)rig.copies.drain();
  EXPECT_EQ(rig.pool.in_use(), 0U);
}

TYPED_TEST(GnbReturned, what_would_not_fit_the_air_behind_the_cards_headers_is_lost_here) {
  ReturnRig<TypeParam::value> rig;
  N3Frame longest = rig.to_bearer(1), longer = rig.to_bearer(1);
  longest.payload = test::inner_packet(rig.context->air_frame_bytes - 14 - 10 - 7);
  longer.payload = test::inner_packet(longest.payload.size() + 1);
  rig.run({longer.make(), longest.make()});
  EXPECT_EQ(rig.back.frames, (std::vector<Bytes>{rig.returned(1, 9, longest.payload), rig.returned(1, 0, Bytes{})}));
  EXPECT_EQ(rig.context->stats.settled.get(), 1U);
  EXPECT_EQ(rig.dropped(DropReason::above_mtu), 1U);
  EXPECT_EQ(rig.drops[1].downlink, 1U);
  EXPECT_EQ(rig.pool.in_use(), 0U);
}

TYPED_TEST(GnbReturned, what_the_port_does_not_take_is_lost_at_its_bearer) {
  ReturnRig<TypeParam::value> rig;
  rig.downlink[2] = ran::make_on_card(rig.config(2));
  rig.back.room = 3;
  rig.run({rig.to_bearer(1).make(), rig.to_bearer(2).make(), rig.to_bearer(1).make(), rig.to_bearer(1).make(),
           rig.to_bearer(2).make()});
  EXPECT_EQ(rig.context->stats.returned.get(), 3U);
  EXPECT_EQ(rig.dropped(DropReason::tx_full), 2U);
  EXPECT_EQ(rig.drops[1].downlink, 1U);
  EXPECT_EQ(rig.drops[2].downlink, 1U);
  EXPECT_EQ(rig.pool.in_use(), 0U);
}

TYPED_TEST(GnbReturned, a_released_bearer_of_a_card_is_one_just_released) {
  ReturnRig<TypeParam::value> rig;
  rig.downlink[1] = ran::make_released(rig.teid(1));
  rig.downlink[3] = ran::make_on_card(rig.config(3));
  N3Frame other_instance = rig.to_bearer(3);
  other_instance.teid = ran::make_teid(4, ShardId{1}, 3);
  rig.run({rig.to_bearer(1).make(), other_instance.make()});
  EXPECT_EQ(rig.dropped(DropReason::teid_released), 1U);
  EXPECT_EQ(rig.dropped(DropReason::teid_unknown), 1U) << "another TEID on the same line";
  EXPECT_TRUE(rig.back.frames.empty());
}

}  // namespace
}  // namespace splitplane::datapath

// Downlink of header mode on real mbufs, for each feature set. The output is what the writers of wire/ would have
// written, every packet is accounted for, and every mbuf returns to its pool.
#include "gnb/datapath/downlink.h"

#include <gtest/gtest.h>

#include "gnb/datapath/test_gnb.h"

namespace splitplane::datapath {
namespace {

using test::Bytes;
using test::N3Frame;

template <FeatureSet F, class Sink = test::TestSink>
struct DownlinkRig : test::TestGnb {
  void run(const std::vector<Bytes>& frames) {
    Burst burst = test::burst_of(pool, frames);
    run(burst);
  }
  void run(Burst burst) {
    received += burst.size;
    function.process(burst);
    expect_balance(received);
  }

  test::Taken air;
  GnbDownlink<F, Sink, SampledCycles> function{*context, Sink{&air}, Sink{&air}};
  std::uint64_t received = 0;
};

TEST(GnbDownlink, drop_drops_everything) {
  DownlinkRig<FeatureSet::drop> rig;
  rig.run({N3Frame{}.make(), test::arp_frame(), Bytes(20)});
  EXPECT_EQ(rig.dropped(DropReason::feature_drop), 3U);
  EXPECT_TRUE(rig.air.frames.empty());
  EXPECT_EQ(rig.pool.in_use(), 0U);
}

TEST(GnbDownlink, l2fwd_swaps_the_addresses_and_sends) {
  DownlinkRig<FeatureSet::l2fwd> rig;
  const Bytes frame = N3Frame{}.make();
  rig.run({frame, test::arp_frame()});
  ASSERT_EQ(rig.air.frames.size(), 2U);
  Bytes want = frame;
  std::copy_n(frame.begin() + 6, 6, want.begin());
  std::copy_n(frame.begin(), 6, want.begin() + 6);
  EXPECT_EQ(rig.air.frames[0], want);
}

TEST(GnbDownlink, decap_leaves_the_inner_packet_behind_ethernet) {
  DownlinkRig<FeatureSet::decap> rig;
  const Bytes v4 = test::inner_packet(50, 1), v6 = test::inner_packet(60, 2, true);
  rig.run({N3Frame{.payload = v4}.make(), N3Frame{.ipv6 = true, .payload = v6}.make(),
           N3Frame{.tags = {9}, .payload = v6}.make()});
  ASSERT_EQ(rig.air.frames.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    Bytes want(14);
    wire::ethernet::write(want, test::kUeMac.octets, test::kAirMac.octets,
                          i == 0 ? wire::ethernet::kTypeIpv4 : wire::ethernet::kTypeIpv6);
    const Bytes& inner = i == 0 ? v4 : v6;
    want.insert(want.end(), inner.begin(), inner.end());
    EXPECT_EQ(rig.air.frames[i], want);
  }
}

TEST(GnbDownlink, headers_gives_every_packet_to_the_fixed_bearer) {
  DownlinkRig<FeatureSet::headers> rig;
  std::vector<Bytes> frames, want;
  for (std::uint32_t n = 0; n < 32; ++n) {
    const Bytes sdu = test::inner_packet(40 + n, static_cast<std::uint8_t>(n));
    frames.push_back(N3Frame{.teid = 77 + n, .payload = sdu}.make());
    want.push_back(rig.air_frame(1, n, sdu, n == 31));
  }
  rig.run(frames);
  EXPECT_EQ(rig.air.frames, want);
  EXPECT_EQ(rig.context->fixed_bearer.received, 32U);
}

// It is not in the templates below because g++ 12 fails there over N3Frame{}.
Bytes usual_sdu() {
  return N3Frame{}.payload;
}
Bytes with_teid(std::uint32_t teid) {
  N3Frame frame;
  frame.teid = teid;
  return frame.make();
}

template <class Features>
class GnbDownlinkMat : public testing::Test {};
template <FeatureSet F>
using With = std::integral_constant<FeatureSet, F>;
using MatSets = testing::Types<With<FeatureSet::mat>, With<FeatureSet::clone_drop>, With<FeatureSet::clone>>;
TYPED_TEST_SUITE(GnbDownlinkMat, MatSets);

TYPED_TEST(GnbDownlinkMat, each_packet_gets_the_headers_of_the_bearer_that_its_teid_names) {
  DownlinkRig<TypeParam::value> rig;
  std::vector<Bytes> frames, want;
  std::array<std::uint32_t, 4> next{};
  for (unsigned n = 0; n < 30; ++n) {
    const unsigned bearer = 1 + n % 3;
    N3Frame frame = rig.to_bearer(bearer);
    frame.payload = test::inner_packet(30 + n, static_cast<std::uint8_t>(n));
    if (n % 5 == 0) frame.ipv6 = true;
    if (n % 7 == 0) frame.tags = {3};
    if (n % 4 == 0) frame.extensions = {{wire::gtpu::kExtensionPsc, {0x00, 0x65}}};  // RQI, QFI 37
    frames.push_back(frame.make());
    const bool other_flow = n % 4 == 0;
    want.push_back(rig.air_frame(bearer, next[bearer]++, frame.payload, false, other_flow,
                                 Qfi{static_cast<std::uint8_t>(other_flow ? 37 : 9)}));
  }
  rig.run(frames);
  EXPECT_EQ(rig.air.frames, want);
  EXPECT_EQ(rig.context->stats.transmitted_air.get(), 30U);
  EXPECT_EQ(rig.downlink[1].received, 10U);
  EXPECT_EQ(rig.downlink[2].pdcp_tx_next, 10U);
  EXPECT_EQ(rig.at_stage(Stage::dl_parse), 30U);
  EXPECT_EQ(rig.at_stage(Stage::dl_tx), 30U);
}

TYPED_TEST(GnbDownlinkMat, a_packet_without_a_container_gets_the_bearers_own_qfi) {
  DownlinkRig<TypeParam::value> rig;
  N3Frame frame = rig.to_bearer(1);
  frame.extensions.clear();
  rig.downlink[1].qfi = 33;
  rig.run({frame.make()});
  ASSERT_EQ(rig.air.frames.size(), 1U);
  EXPECT_EQ(rig.air.frames[0], rig.air_frame(1, 0, frame.payload, false, false, Qfi{33}));
}

TYPED_TEST(GnbDownlinkMat, unknown_teids_are_lost_and_the_others_keep_their_order_and_numbers) {
  DownlinkRig<TypeParam::value> rig;
  rig.run({with_teid(0), rig.to_bearer(1).make(), with_teid(rig.teid(9)), with_teid(rig.teid(test::kLines)),
           with_teid(ran::make_teid(4, ShardId{1}, 1)), with_teid(ran::make_teid(3, ShardId{2}, 1)),
           rig.to_bearer(1).make()});
  EXPECT_EQ(rig.dropped(DropReason::teid_unknown), 5U);
  ASSERT_EQ(rig.air.frames.size(), 2U);
  EXPECT_EQ(rig.air.frames[0], rig.air_frame(1, 0, usual_sdu()));
  EXPECT_EQ(rig.air.frames[1], rig.air_frame(1, 1, usual_sdu()));
}

TYPED_TEST(GnbDownlinkMat, bad_frames_are_lost_by_reason_and_use_no_number) {
  DownlinkRig<TypeParam::value> rig;
  N3Frame wrong_port = rig.to_bearer(1), other = rig.to_bearer(1), nothing = rig.to_bearer(1);
  wrong_port.port = 1;
  other.message = 240;  // Data Record Transfer Request, of GTP'
  nothing.payload.clear();
  rig.run({wrong_port.make(), other.make(), nothing.make(), Bytes{}, rig.to_bearer(1).make()});
  EXPECT_EQ(rig.dropped(drop_reason(wire::Reason::udp_port_unknown)), 1U);
  EXPECT_EQ(rig.dropped(DropReason::gtpu_message), 1U);
  EXPECT_EQ(rig.dropped(DropReason::gtpu_no_payload), 1U);
  EXPECT_EQ(rig.dropped(drop_reason(wire::Reason::ethernet_truncated)), 1U);
  ASSERT_EQ(rig.air.frames.size(), 1U);
  EXPECT_EQ(rig.air.frames[0], rig.air_frame(1, 0, usual_sdu()));
}

TYPED_TEST(GnbDownlinkMat, a_frame_in_two_segments_is_lost_whole) {
  DownlinkRig<TypeParam::value> rig;
  Burst burst;
  const Bytes frame = rig.to_bearer(1).make();
  for (const std::size_t first : {std::size_t{1}, std::size_t{58}, frame.size() - 1}) {
    burst.mbuf[burst.size++] = rig.pool.make_segmented(frame, first);
  }
  rig.run(burst);
  EXPECT_EQ(rig.dropped(DropReason::mbuf_segmented), 3U);
  EXPECT_EQ(rig.pool.in_use(), 0U);
}

TYPED_TEST(GnbDownlinkMat, arp_is_handed_to_the_control_thread_until_its_ring_is_full) {
  DownlinkRig<TypeParam::value> rig;
  rig.run(std::vector<Bytes>(6, test::arp_frame()));
  EXPECT_EQ(rig.context->stats.punted.get(), 4U);
  EXPECT_EQ(rig.dropped(DropReason::punt_full), 2U);
  EXPECT_EQ(rig.punt.drain(), std::vector<Bytes>(4, test::arp_frame()));
  rig.context->punt = nullptr;
  rig.run({test::arp_frame()});
  EXPECT_EQ(rig.dropped(DropReason::punt_full), 3U);
}

// The control thread reads packets that are dropped in this way, and answers the sender. They count as dropped, not as
// consumed.
TYPED_TEST(GnbDownlinkMat, frames_to_answer_are_dropped_and_handed_over_until_half_of_the_ring_is_taken) {
  DownlinkRig<TypeParam::value> rig;
  N3Frame unknown = rig.to_bearer(1);
  unknown.extensions = {{0xa5, {0, 0}}};
  rig.run({with_teid(0x7777), unknown.make(), with_teid(0x7778), with_teid(0x7779)});
  EXPECT_EQ(rig.dropped(DropReason::teid_unknown), 3U);
  EXPECT_EQ(rig.dropped(drop_reason(wire::Reason::gtpu_extension_unknown_required)), 1U);
  EXPECT_EQ(rig.context->stats.punted.get(), 0U);
  EXPECT_EQ(rig.punt.drain(), (std::vector<Bytes>{unknown.make(), with_teid(0x7777)}));
  EXPECT_EQ(rig.pool.in_use(), 0U);
}

TYPED_TEST(GnbDownlinkMat, a_teid_just_released_is_silent_and_has_a_reason_of_its_own) {
  DownlinkRig<TypeParam::value> rig;
  rig.downlink[1] = ran::make_released(rig.teid(1));
  rig.run({rig.to_bearer(1).make(), with_teid(ran::make_teid(4, ShardId{1}, 1)), with_teid(0)});
  EXPECT_EQ(rig.dropped(DropReason::teid_released), 1U);
  EXPECT_EQ(rig.dropped(DropReason::teid_unknown), 2U);
  EXPECT_EQ(rig.punt.drain().size(), 2U);
  rig.downlink[1] = {};
  rig.run({rig.to_bearer(1).make()});
  EXPECT_EQ(rig.dropped(DropReason::teid_unknown), 3U);
}

TYPED_TEST(GnbDownlinkMat, what_the_port_does_not_take_is_lost_and_counted_at_its_bearer) {
  DownlinkRig<TypeParam::value> rig;
  rig.air.room = 3;
  std::vector<Bytes> frames;
  for (unsigned n = 0; n < 8; ++n) frames.push_back(rig.to_bearer(1 + n % 2).make());
  rig.run(frames);
  EXPECT_EQ(rig.air.frames.size(), 3U);
  EXPECT_EQ(rig.dropped(DropReason::tx_full), 5U);
  EXPECT_EQ(rig.drops[1].downlink, 2U);
  EXPECT_EQ(rig.drops[2].downlink, 3U);
  (void)rig.copies.drain();
  EXPECT_EQ(rig.pool.in_use(), 0U);
}

TYPED_TEST(GnbDownlinkMat, what_comes_off_makes_room_for_what_goes_on_even_without_headroom) {
  DownlinkRig<TypeParam::value> rig;
  Burst burst;
  std::vector<Bytes> want;
  for (unsigned n = 0; n < 8; ++n) {
    N3Frame frame = rig.to_bearer(1);          // the longest headers on the air
    if (n % 2 == 0) frame.extensions.clear();  // the shortest on N3
    burst.mbuf[burst.size++] = rig.pool.make(frame.make(), 0);
    want.push_back(rig.air_frame(1, n, frame.payload));
  }
  rig.run(burst);
  EXPECT_EQ(rig.air.frames, want);
}

TEST(GnbDownlinkClone, the_ring_holds_the_frames_themselves_and_their_order) {
  DownlinkRig<FeatureSet::clone> rig;
  std::vector<Bytes> frames(20, rig.to_bearer(1).make());
  rig.run(frames);
  EXPECT_EQ(rig.context->stats.copies.get(), 20U);
  EXPECT_EQ(rig.pool.in_use(), 20U) << "the references outlive transmit";
  EXPECT_EQ(rig.copies.drain(), rig.air.frames);
  EXPECT_EQ(rig.pool.in_use(), 0U);
}

TEST(GnbDownlinkClone, a_full_ring_loses_copies_and_no_packet) {
  DownlinkRig<FeatureSet::clone> rig;
  for (int i = 0; i < 3; ++i) rig.run(std::vector<Bytes>(30, rig.to_bearer(1).make()));
  EXPECT_EQ(rig.air.frames.size(), 90U);
  EXPECT_EQ(rig.context->stats.copies.get(), 64U);
  EXPECT_EQ(rig.context->stats.copies_lost.get(), 26U);
  EXPECT_EQ(rig.pool.in_use(), 64U);
  const auto copies = rig.copies.drain();
  EXPECT_TRUE(std::equal(copies.begin(), copies.end(), rig.air.frames.begin()));
  EXPECT_EQ(rig.pool.in_use(), 0U);
}

TEST(GnbDownlinkClone, a_port_that_passes_mbufs_on_gets_the_packet_and_the_ring_a_real_copy) {
  DownlinkRig<FeatureSet::clone, test::PassingSink> rig;
  rig.run(std::vector<Bytes>(10, rig.to_bearer(1).make()));
  EXPECT_EQ(rig.context->stats.copies.get(), 10U);
  EXPECT_EQ(rig.copies.drain(), rig.air.frames) << "the receiver's writes must not reach the copies";
}

TEST(GnbDownlinkClone, real_copies_are_lost_when_the_pool_or_the_ring_has_no_room) {
  DownlinkRig<FeatureSet::clone, test::PassingSink> rig;
  for (int i = 0; i < 3; ++i) rig.run(std::vector<Bytes>(30, rig.to_bearer(1).make()));
  EXPECT_EQ(rig.context->stats.copies.get(), 64U);
  EXPECT_EQ(rig.context->stats.copies_lost.get(), 26U);
  (void)rig.copies.drain();

  test::Pool empty(1);
  rte_mbuf* last = rte_pktmbuf_alloc(empty.get());
  rig.context->pool = empty.get();
  rig.run({rig.to_bearer(1).make()});
  EXPECT_EQ(rig.context->stats.copies_lost.get(), 27U);
  rte_pktmbuf_free(last);
}

TEST(GnbDownlinkClone, clone_drop_takes_the_reference_and_gives_it_back) {
  DownlinkRig<FeatureSet::clone_drop> rig;
  rig.run(std::vector<Bytes>(16, rig.to_bearer(1).make()));
  EXPECT_EQ(rig.context->stats.copies.get(), 16U);
  EXPECT_EQ(rig.copies.count(), 0U);
  EXPECT_EQ(rig.pool.in_use(), 0U);
}

TEST(GnbDownlink, an_empty_burst_is_nothing) {
  DownlinkRig<FeatureSet::clone> rig;
  rig.run(std::vector<Bytes>{});
  EXPECT_TRUE(rig.air.frames.empty());
}

}  // namespace
}  // namespace splitplane::datapath

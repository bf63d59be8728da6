// Uplink of header mode on real mbufs: air frames become G-PDUs, RLC control goes to the copies, and all else is
// dropped with its own reason. Every mbuf returns to its pool.
#include "gnb/datapath/uplink.h"

#include <gtest/gtest.h>

#include "gnb/datapath/test_gnb.h"
#include "wire/n3.h"

namespace splitplane::datapath {
namespace {

using test::Bytes;

template <FeatureSet F>
struct UplinkRig : test::TestGnb {
  void run(const std::vector<Bytes>& frames) {
    Burst burst = test::burst_of(pool, frames);
    run(burst);
  }
  void run(Burst burst) {
    received += burst.size;
    function.process(burst);
    expect_balance(received);
  }

  test::Taken n3;
  GnbUplink<F, test::TestSink, SampledCycles> function{*context, test::TestSink{&n3}};
  std::uint64_t received = 0;
};

// The frame on N3 as the writers of wire/ make it, with an IPv6 checksum where there must be one.
Bytes n3_frame(bool ipv6, std::uint32_t teid, Qfi qfi, const Bytes& tpdu) {
  Bytes gtpu(16 + tpdu.size());
  wire::gtpu::write_gpdu_psc_ul(gtpu, Teid{teid}, tpdu.size(), qfi);
  std::copy(tpdu.begin(), tpdu.end(), gtpu.begin() + 16);
  Bytes frame(14 + (ipv6 ? 40U : 20U) + 8U);
  wire::ethernet::write(frame, test::kUpfMac.octets, test::kOurMac.octets,
                        ipv6 ? wire::ethernet::kTypeIpv6 : wire::ethernet::kTypeIpv4);
  wire::MutableOctets ip = wire::MutableOctets(frame).subspan(14);
  if (ipv6) {
    wire::ipv6::Header h;
    h.next_header = 17;
    h.hop_limit = 64;
    wire::ipv6::write(ip, h, test::kOurIpv6, test::kUpfIpv6, 8 + gtpu.size());
  } else {
    wire::ipv4::Header h;
    h.fragment = wire::ipv4::kDontFragment;
    h.ttl = 64;
    h.protocol = 17;
    h.source = test::kOurIpv4;
    h.destination = test::kUpfIpv4;
    wire::ipv4::write(ip, h, 8 + gtpu.size());
  }
  wire::udp::write(ip.subspan(ipv6 ? 40 : 20), 2152, 2152, gtpu.size());
  frame.insert(frame.end(), gtpu.begin(), gtpu.end());
  if (ipv6) {
    const wire::Octets udp = wire::Octets(frame).subspan(54);
    wire::store_be16(frame.data() + 60, wire::udp::checksum(test::kOurIpv6, test::kUpfIpv6, udp));
  }
  return frame;
}

template <class Features>
class GnbUplinkSets : public testing::Test {};
template <FeatureSet F>
using With = std::integral_constant<FeatureSet, F>;
using Sets = testing::Types<With<FeatureSet::decap>, With<FeatureSet::headers>, With<FeatureSet::mat>,
                            With<FeatureSet::clone_drop>, With<FeatureSet::clone>>;
TYPED_TEST_SUITE(GnbUplinkSets, Sets);

TYPED_TEST(GnbUplinkSets, data_pdus_become_g_pdus_over_ipv4_and_ipv6) {
  UplinkRig<TypeParam::value> rig;
  std::vector<Bytes> frames, want;
  for (unsigned n = 0; n < 30; ++n) {
    const std::uint32_t bearer = 1 + n % 3;
    const Qfi qfi{static_cast<std::uint8_t>(n)};
    const Bytes sdu = test::inner_packet(1 + 40 * n, static_cast<std::uint8_t>(n));
    frames.push_back(rig.from_ue(bearer, n / 3, sdu, qfi));
    want.push_back(n3_frame(bearer == 2, 0xaa000000 | bearer, bearer == 3 ? Qfi{9} : qfi, sdu));
  }
  rig.run(frames);
  EXPECT_EQ(rig.n3.frames, want);
  EXPECT_EQ(rig.context->stats.transmitted_n3.get(), 30U);
  EXPECT_EQ(rig.uplink[1].pdcp_rx_next, 10U);
  EXPECT_EQ(rig.uplink[1].rlc_rx_next_highest, 10U);
  EXPECT_EQ(rig.uplink[2].received, 10U);
  EXPECT_EQ(rig.at_stage(Stage::ul_parse), 30U);
  EXPECT_EQ(rig.at_stage(Stage::ul_tx), 30U);
}

TYPED_TEST(GnbUplinkSets, packets_have_the_type_of_service_of_their_flow) {
  UplinkRig<TypeParam::value> rig;
  rig.context->n3.tos[33] = 46 << 2;
  const Bytes sdu = test::inner_packet(50);
  rig.run({rig.from_ue(1, 0, sdu, Qfi{33}), rig.from_ue(2, 0, sdu, Qfi{33}), rig.from_ue(1, 1, sdu, Qfi{7})});
  ASSERT_EQ(rig.n3.frames.size(), 3U);
  const auto v4 = wire::n3::parse(rig.n3.frames[0]);
  ASSERT_TRUE(v4) << name_of(v4.reason);
  EXPECT_EQ(rig.n3.frames[0][15], 46 << 2);
  const wire::Octets ip = wire::Octets(rig.n3.frames[0]).subspan(14);
  EXPECT_TRUE(wire::ipv4::checksum_is_good(ip, *wire::ipv4::parse(ip)));
  EXPECT_EQ(wire::load_be16(rig.n3.frames[1].data() + 14), 0x6000U | 46 << 6);  // IPv6: traffic class
  EXPECT_EQ(rig.n3.frames[2][15], 0);
}

TYPED_TEST(GnbUplinkSets, rlc_control_goes_to_the_copies_as_it_came) {
  UplinkRig<TypeParam::value> rig;
  Bytes status;
  ran::test::put_airhdr(status, rig.config(1), Direction::kUplink);
  status.insert(status.end(), {0x0a, 0xaf, 0x3c});
  ran::test::set_length(status);
  const Bytes frame = rig.from_ue(status);
  rig.run({frame, rig.from_ue(1, 0, test::inner_packet(20)), frame});
  EXPECT_EQ(rig.context->stats.rlc_control.get(), 2U);
  EXPECT_EQ(rig.uplink[1].control, 2U);
  EXPECT_EQ(rig.n3.frames.size(), 1U);
  EXPECT_EQ(rig.copies.drain(), (std::vector<Bytes>{frame, frame}));

  for (int i = 0; i < 3; ++i) rig.run(std::vector<Bytes>(30, frame));
  EXPECT_EQ(rig.dropped(DropReason::copies_full), 26U);
  (void)rig.copies.drain();
  rig.context->copies = nullptr;
  rig.run({frame});
  EXPECT_EQ(rig.dropped(DropReason::copies_full), 27U);
}

TYPED_TEST(GnbUplinkSets, what_header_mode_does_not_know_is_lost_by_reason_and_moves_no_number) {
  UplinkRig<TypeParam::value> rig;
  const auto& config = rig.config(1);
  const auto pdu = [&](auto&& fill) {
    Bytes octets;
    ran::test::put_airhdr(octets, config, Direction::kUplink);
    fill(octets);
    ran::test::set_length(octets);
    return rig.from_ue(octets);
  };
  const Bytes segment = pdu(
      [&](Bytes& o) { ran::test::put_rlc(o, config, 0, false, wire::rlc::Segment::kFirst), o.resize(o.size() + 20); });
  const Bytes pdcp_control =
      pdu([&](Bytes& o) { ran::test::put_rlc(o, config, 0, false), o.insert(o.end(), {0, 0, 0, 0, 5}); });
  const Bytes end_marker = pdu(
      [&](Bytes& o) { ran::test::put_rlc(o, config, 0, false), ran::test::put_pdcp(o, config, 0), o.push_back(5); });
  const Bytes nothing = pdu([](Bytes&) {});
  Bytes headers_only = rig.from_ue(1, 0, {});
  rig.run({segment, pdcp_control, end_marker, nothing, headers_only});
  EXPECT_EQ(rig.dropped(DropReason::rlc_segment), 1U);
  EXPECT_EQ(rig.dropped(DropReason::pdcp_control), 1U);
  EXPECT_EQ(rig.dropped(DropReason::sdap_end_marker), 1U);
  EXPECT_EQ(rig.dropped(DropReason::pdu_too_short), 2U);
  EXPECT_EQ(rig.uplink[1].pdcp_rx_next, 0U);
  EXPECT_TRUE(rig.n3.frames.empty());
  EXPECT_EQ(rig.pool.in_use(), 0U);
}

TYPED_TEST(GnbUplinkSets, frames_that_name_no_bearer_of_ours_are_lost_by_reason) {
  UplinkRig<TypeParam::value> rig;
  const Bytes good = rig.from_ue(1, 0, test::inner_packet(20));
  const auto with = [&good](std::size_t at, std::uint8_t value) {
    Bytes frame = good;
    frame[at] = value;
    return frame;
  };
  rig.run({with(12, 0x08), Bytes(23, 0x88), Bytes{}});
  EXPECT_EQ(rig.dropped(DropReason::not_air_frame), 3U);
  rig.run({with(14, 0x10), with(14, 0x00), with(14, 0x21)});
  EXPECT_EQ(rig.dropped(drop_reason(wire::Reason::airhdr_bad_version)), 2U);
  EXPECT_EQ(rig.dropped(drop_reason(wire::Reason::airhdr_bad_kind)), 1U);
  Bytes nobody = good, zero = good;
  wire::store_be32(nobody.data() + 18, rig.teid(9));
  wire::store_be32(zero.data() + 18, 0);
  rig.run({nobody, zero, with(18, 0xff)});
  EXPECT_EQ(rig.dropped(DropReason::bearer_unknown), 3U);
  for (const unsigned bit : {0x80U, 0x40U, 0x20U, 0x10U, 0x08U, 0x04U, 0x02U}) {
    rig.run({with(15, static_cast<std::uint8_t>(good[15] ^ bit))});
  }
  EXPECT_EQ(rig.dropped(DropReason::airhdr_modes_wrong), 7U);
  EXPECT_EQ(rig.at_stage(Stage::ul_parse), rig.received);
  EXPECT_TRUE(rig.n3.frames.empty());
}

TYPED_TEST(GnbUplinkSets, reserved_bits_of_airhdr_are_ignored) {
  UplinkRig<TypeParam::value> rig;
  Bytes frame = rig.from_ue(1, 0, test::inner_packet(20));
  frame[15] |= 1;
  frame[16] = 0xab;
  frame[17] = 0xcd;
  rig.run({frame});
  EXPECT_EQ(rig.n3.frames.size(), 1U);
}

TYPED_TEST(GnbUplinkSets, the_links_padding_is_no_part_of_the_sdu) {
  UplinkRig<TypeParam::value> rig;
  const Bytes frame = rig.from_ue(1, 0, test::inner_packet(3));
  Bytes padded = frame;
  padded.resize(60);
  rig.run({frame, padded});
  ASSERT_EQ(rig.n3.frames.size(), 2U);
  EXPECT_EQ(rig.n3.frames[0].size(), rig.n3.frames[1].size());
  EXPECT_EQ(rig.uplink[1].bytes, 6U);
}

TYPED_TEST(GnbUplinkSets, every_truncation_is_accounted) {
  UplinkRig<TypeParam::value> rig;
  const Bytes frame = rig.from_ue(1, 0, test::inner_packet(3));
  for (std::size_t bytes = 0; bytes <= frame.size(); ++bytes) {
    Bytes cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(bytes));
    rig.run({cut});
    if (bytes < 24 || bytes == frame.size()) continue;
    wire::store_be16(cut.data() + 22, static_cast<std::uint32_t>(bytes - 24));
    rig.run({cut});
  }
  EXPECT_EQ(rig.n3.frames.size(), 3U);
  EXPECT_EQ(rig.dropped(drop_reason(wire::Reason::airhdr_bad_length)), frame.size() - 24);
  EXPECT_EQ(rig.dropped(DropReason::not_air_frame), 24U);
  EXPECT_EQ(rig.dropped(DropReason::pdu_too_short), 8U);
}

TYPED_TEST(GnbUplinkSets, a_frame_in_two_segments_is_lost_whole) {
  UplinkRig<TypeParam::value> rig;
  const Bytes frame = rig.from_ue(1, 0, test::inner_packet(50));
  Burst burst;
  for (const std::size_t first : {std::size_t{5}, std::size_t{24}, frame.size() - 1}) {
    burst.mbuf[burst.size++] = rig.pool.make_segmented(frame, first);
  }
  rig.run(burst);
  EXPECT_EQ(rig.dropped(DropReason::mbuf_segmented), 3U);
}

TYPED_TEST(GnbUplinkSets, packets_to_an_unresolved_upf_are_lost_and_counted_at_their_bearer) {
  UplinkRig<TypeParam::value> rig;
  const Bytes frame = rig.from_ue(4, 0, test::inner_packet(50));
  rig.run({frame, frame});
  EXPECT_EQ(rig.dropped(DropReason::peer_unresolved), 2U);
  EXPECT_EQ(rig.drops[4].uplink, 2U);
  rig.context->peers[test::kPeerUnresolved] = rig.context->peers[test::kPeerV4];
  rig.run({frame});
  EXPECT_EQ(rig.n3.frames.size(), 1U);
}

TYPED_TEST(GnbUplinkSets, a_bearer_whose_upf_does_not_know_its_teid_sends_nothing) {
  UplinkRig<TypeParam::value> rig;
  rig.uplink[1].peer = kStoppedPeer;
  rig.run({rig.from_ue(1, 0, test::inner_packet(50)), rig.from_ue(3, 0, test::inner_packet(50))});
  EXPECT_EQ(rig.dropped(DropReason::uplink_stopped), 1U);
  EXPECT_EQ(rig.drops[1].uplink, 1U);
  EXPECT_EQ(rig.n3.frames.size(), 1U);
}

TYPED_TEST(GnbUplinkSets, without_headroom_a_packet_is_lost) {
  UplinkRig<TypeParam::value> rig;
  Burst burst;
  const Bytes frame = rig.from_ue(2, 0, test::inner_packet(50));
  const unsigned strip = 24U + rig.uplink[2].header_bytes;
  const auto just_enough = static_cast<std::uint16_t>(kN3OverheadIpv6 - strip);
  burst.mbuf[burst.size++] = rig.pool.make(frame, just_enough);
  burst.mbuf[burst.size++] = rig.pool.make(frame, static_cast<std::uint16_t>(just_enough - 1));
  burst.mbuf[burst.size++] = rig.pool.make(frame, 0);
  rig.run(burst);
  EXPECT_EQ(rig.dropped(DropReason::no_headroom), 2U);
  EXPECT_EQ(rig.drops[2].uplink, 2U);
  EXPECT_EQ(rig.n3.frames.size(), 1U);
}

TYPED_TEST(GnbUplinkSets, what_the_port_does_not_take_is_lost_and_counted_at_its_bearer) {
  UplinkRig<TypeParam::value> rig;
  rig.n3.room = 1;
  rig.run({rig.from_ue(1, 0, {0x45}), rig.from_ue(2, 0, {0x45}), rig.from_ue(1, 1, {0x45})});
  EXPECT_EQ(rig.dropped(DropReason::tx_full), 2U);
  EXPECT_EQ(rig.drops[1].uplink, 1U);
  EXPECT_EQ(rig.drops[2].uplink, 1U);
  EXPECT_EQ(rig.pool.in_use(), 0U);
}

TEST(GnbUplink, drop_and_l2fwd_do_what_they_say) {
  UplinkRig<FeatureSet::drop> drop;
  drop.run({Bytes(60), Bytes(60)});
  EXPECT_EQ(drop.dropped(DropReason::feature_drop), 2U);
  UplinkRig<FeatureSet::l2fwd> forward;
  const Bytes frame = forward.from_ue(1, 0, {0x45});
  forward.n3.room = 1;
  forward.run({frame, frame});
  Bytes want = frame;
  std::swap_ranges(want.begin(), want.begin() + 6, want.begin() + 6);
  EXPECT_EQ(forward.n3.frames, std::vector<Bytes>{want});
  EXPECT_EQ(forward.dropped(DropReason::tx_full), 1U);
}

TEST(GnbUplink, the_control_threads_frames_go_out_once_a_round) {
  UplinkRig<FeatureSet::mat> rig;
  for (unsigned n = 0; n < 5; ++n)
    ASSERT_EQ(rte_ring_sp_enqueue(rig.inject.get(), rig.pool.make(test::arp_frame())), 0);
  rig.n3.room = 3;
  rig.function.send_injected();
  rig.function.send_injected();
  EXPECT_EQ(rig.n3.frames, std::vector<Bytes>(3, test::arp_frame()));
  EXPECT_EQ(rig.context->stats.injected.get(), 3U);
  EXPECT_EQ(rig.pool.in_use(), 0U);
  rig.context->inject = nullptr;
  rig.function.send_injected();
}

}  // namespace
}  // namespace splitplane::datapath

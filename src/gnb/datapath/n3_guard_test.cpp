// What an N3 interface accepts: only frames of its VLAN, and a bearer's packets only from its UPF. Packets for the
// control thread have a separate ring and rate for each class.
#include <gtest/gtest.h>

#include "gnb/datapath/downlink.h"
#include "gnb/datapath/test_gnb.h"
#include "gnb/datapath/uplink.h"
#include "ran/source_key.h"
#include "wire/n3.h"

namespace splitplane::datapath {
namespace {

using test::Bytes;
using test::N3Frame;

struct GuardRig : test::TestGnb {
  explicit GuardRig(std::uint16_t vlan) {
    context->n3.vlan = vlan;
    context->peers[test::kPeerV4] = make_peer(context->n3, IpAddress::v4({10, 100, 0, 2}), test::kUpfMac);
    context->peers[test::kPeerV6] = make_peer(context->n3, IpAddress::v6(test::kUpfIpv6), test::kUpfMac);
  }
  void down(const std::vector<Bytes>& frames) {
    received += frames.size();
    downlink_path.process(*std::make_unique<Burst>(test::burst_of(pool, frames)));
    (void)copies.drain();
    expect_balance(received);
  }
  void up(const std::vector<Bytes>& frames) {
    received += frames.size();
    uplink_path.process(*std::make_unique<Burst>(test::burst_of(pool, frames)));
    expect_balance(received);
  }
  [[nodiscard]] N3Frame tagged(std::vector<std::uint16_t> tags, std::uint32_t index = 1) const {
    N3Frame frame = to_bearer(index);
    frame.tags = std::move(tags);
    return frame;
  }

  test::Taken air, n3;
  GnbDownlink<FeatureSet::clone, test::TestSink, SampledCycles> downlink_path{*context, {&air}, {&air}};
  GnbUplink<FeatureSet::clone, test::TestSink, SampledCycles> uplink_path{*context, {&n3}};
  std::uint64_t received = 0;
};

Bytes with_tag(Bytes frame, std::uint16_t tci) {
  const Bytes tag{0x81, 0x00, static_cast<std::uint8_t>(tci >> 8), static_cast<std::uint8_t>(tci)};
  frame.insert(frame.begin() + 12, tag.begin(), tag.end());
  return frame;
}

TEST(N3Vlan, without_vlan_every_tagged_frame_is_dropped_by_name) {
  GuardRig rig(0);
  N3Frame v6 = rig.tagged({7}, 2);
  v6.ipv6 = true;
  rig.down({rig.tagged({}).make(), rig.tagged({7}).make(), rig.tagged({0}).make(), rig.tagged({7, 8}).make(), v6.make(),
            with_tag(test::arp_frame(), 7)});
  EXPECT_EQ(rig.air.frames.size(), 1U);
  EXPECT_EQ(rig.dropped(DropReason::vlan_wrong), 5U);
  EXPECT_EQ(rig.context->stats.punted.get(), 0U);
}

TEST(N3Vlan, with_vlan_only_frames_of_that_vlan_come_in_with_any_priority) {
  GuardRig rig(100);
  N3Frame v6 = rig.tagged({100}, 2), options = rig.tagged({100});
  v6.ipv6 = true;
  options.ip_options = Bytes{1, 1, 1, 1};
  Bytes service = rig.tagged({100}).make();
  service[12] = 0x88, service[13] = 0xa8;
  rig.down({rig.tagged({100}).make(), rig.tagged({0xe064}).make(), v6.make(), options.make(),
            with_tag(test::arp_frame(), 100)});
  EXPECT_EQ(rig.air.frames.size(), 4U);
  EXPECT_EQ(rig.air.frames[0], rig.air_frame(1, 0, N3Frame{}.payload));
  EXPECT_EQ(rig.punt.drain(), std::vector<Bytes>{with_tag(test::arp_frame(), 100)});
  rig.down(
      {rig.tagged({}).make(), rig.tagged({101}).make(), rig.tagged({100, 100}).make(), service, test::arp_frame()});
  EXPECT_EQ(rig.dropped(DropReason::vlan_wrong), 5U);
  EXPECT_EQ(rig.air.frames.size(), 4U);
}

TEST(N3Vlan, a_frame_cut_anywhere_is_refused_without_reading_behind_it) {
  GuardRig rig(100);
  const Bytes whole = rig.tagged({100}).make();
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const auto exact = std::make_unique<std::uint8_t[]>(n);
    std::copy_n(whole.begin(), n, exact.get());
    GPdu gpdu;
    EXPECT_FALSE(parse_n3_fast<true>(exact.get(), static_cast<unsigned>(n), rig.context->n3.ipv4, 100, gpdu)) << n;
    EXPECT_EQ(parse_n3(exact.get(), static_cast<unsigned>(n), rig.context->n3, gpdu).verdict, N3Verdict::kDrop) << n;
  }
}

TEST(N3Vlan, the_uplink_goes_out_in_the_vlan_and_is_else_the_same_octet_by_octet) {
  for (const std::uint32_t index : {1U, 2U, 3U}) {
    GuardRig plain(0), vlan(100);
    const Bytes frame = plain.from_ue(index, 0, test::inner_packet(300));
    plain.up({frame});
    vlan.up({frame});
    ASSERT_EQ(plain.n3.frames.size(), 1U);
    ASSERT_EQ(vlan.n3.frames.size(), 1U);
    EXPECT_EQ(vlan.n3.frames[0], with_tag(plain.n3.frames[0], 100)) << index;
  }
}

TEST(N3Vlan, a_tag_takes_nothing_of_the_mtu) {
  const N3Addresses plain{.mtu = 1500, .vlan = 0}, tagged{.mtu = 1500, .vlan = 100};
  for (const IpAddress& upf : {IpAddress::v4({10, 100, 0, 2}), IpAddress::v6(test::kUpfIpv6)}) {
    const N3Peer without = make_peer(plain, upf, test::kUpfMac), with = make_peer(tagged, upf, test::kUpfMac);
    EXPECT_EQ(with.max_payload, without.max_payload);
    EXPECT_EQ(with.header_bytes, without.header_bytes + 4);
    EXPECT_EQ(with.checksum_base, without.checksum_base);
  }
}

TEST(N3Vlan, a_packet_with_time_stamps_has_the_tag_too) {
  const N3Addresses ours{.ipv4 = __builtin_bswap32(test::kOurIpv4), .mac = test::kOurMac, .vlan = 100};
  N3Addresses plain = ours;
  plain.vlan = 0;
  const IpAddress upf = IpAddress::v4({10, 100, 0, 2});
  const QosMonitor::Stamp stamp{0x1111111111111111, 0x2222222222222222};
  Bytes tagged(200), without(200);
  write_monitored_uplink(make_peer(ours, upf, test::kUpfMac), Teid{1}, Qfi{9}, 0, stamp, 3, 41, tagged.data());
  write_monitored_uplink(make_peer(plain, upf, test::kUpfMac), Teid{1}, Qfi{9}, 0, stamp, 3, 41, without.data());
  without.resize(196);
  EXPECT_EQ(tagged, with_tag(without, 100));
}

struct SourceRig : GuardRig {
  explicit SourceRig(bool any_source) : GuardRig(0) {
    context->n3.source_mask = any_source ? 0 : ~0U;
    add(1, {.upf = IpAddress::v4({10, 100, 0, 2})}, test::kPeerV4);
    add(2, {.upf = IpAddress::v6(test::kUpfIpv6)}, test::kPeerV6);
  }
  [[nodiscard]] N3Frame v6() const {
    N3Frame frame = to_bearer(2);
    frame.ipv6 = true;
    return frame;
  }
};

TEST(N3Source, a_g_pdu_that_does_not_come_from_the_upf_of_its_bearer_is_dropped_and_counted_there) {
  SourceRig rig(false);
  N3Frame forged = rig.to_bearer(1), other = rig.v6(), options = rig.to_bearer(1), wrong_family = rig.to_bearer(2);
  forged.source = options.source = 0x0a640063;
  options.ip_options = Bytes{1, 1, 1, 1};
  other.source_v6[15] = 9;
  rig.down(
      {rig.to_bearer(1).make(), forged.make(), rig.v6().make(), other.make(), options.make(), wrong_family.make()});
  EXPECT_EQ(rig.air.frames.size(), 2U);
  EXPECT_EQ(rig.dropped(DropReason::not_from_upf), 4U);
  EXPECT_EQ(rig.drops[1].downlink, 2U);
  EXPECT_EQ(rig.drops[2].downlink, 2U);
  EXPECT_EQ(rig.downlink[1].received, 3U);
}

TEST(N3Source, any_source_lets_them_in) {
  SourceRig rig(true);
  N3Frame other = rig.to_bearer(1);
  other.source = 0x0a640063;
  rig.down({rig.to_bearer(1).make(), other.make(), rig.v6().make()});
  EXPECT_EQ(rig.air.frames.size(), 3U);
}

TEST(N3Source, an_unknown_teid_is_still_answered_whoever_sends_it) {
  SourceRig rig(false);
  N3Frame stranger{.teid = 0x7777};
  stranger.source = 0x0a640063;
  rig.down({stranger.make()});
  EXPECT_EQ(rig.dropped(DropReason::teid_unknown), 1U);
  EXPECT_EQ(rig.punt.drain().size(), 1U);
}

// A gNB worker whose punts go to a ring of 4 places for each class.
struct ClassRig : GuardRig {
  ClassRig() : GuardRig(0) {
    for (auto& ring : context->punt.rings) {
      rings.push_back(std::make_unique<test::Ring>(4));
      ring = rings.back()->get();
    }
  }
  std::size_t take(PuntClass kind) { return rings[static_cast<std::size_t>(kind)]->drain().size(); }

  std::vector<std::unique_ptr<test::Ring>> rings;
};

Bytes message(std::uint8_t type) {
  return N3Frame{.message = type, .teid = 0, .sequence_number = true, .extensions = {}, .payload = {}}.make();
}

TEST(Punts, a_flood_of_one_class_keeps_no_other_out) {
  ClassRig rig;
  rig.down(std::vector<Bytes>(30, message(wire::gtpu::kErrorIndication)));
  EXPECT_EQ(rig.dropped(DropReason::punt_full), 26U);
  rig.down({test::arp_frame(), message(wire::gtpu::kEchoRequest), message(wire::gtpu::kEndMarker),
            N3Frame{.teid = 0x77}.make()});
  EXPECT_EQ(rig.dropped(DropReason::punt_full), 26U);
  EXPECT_EQ(rig.take(PuntClass::neighbor), 1U);
  EXPECT_EQ(rig.take(PuntClass::echo), 1U);
  EXPECT_EQ(rig.take(PuntClass::error), 4U);
  EXPECT_EQ(rig.take(PuntClass::notice), 1U);
  EXPECT_EQ(rig.take(PuntClass::answer), 1U);
}

// A host that sends endless echo requests cannot make a path look dead.
TEST(Punts, echo_requests_keep_no_echo_response_out) {
  ClassRig rig;
  rig.down(std::vector<Bytes>(30, message(wire::gtpu::kEchoRequest)));
  EXPECT_EQ(rig.dropped(DropReason::punt_full), 26U);
  rig.down({message(wire::gtpu::kEchoResponse)});
  EXPECT_EQ(rig.dropped(DropReason::punt_full), 26U);
  EXPECT_EQ(rig.take(PuntClass::echo_response), 1U);
}

TEST(Punts, a_class_has_its_rate_and_a_burst_after_a_pause) {
  PuntRate rate = PuntRate::of(1000, 10, 4);  // ticks of a millisecond, 10 a second
  unsigned allowed = 0;
  for (std::uint64_t now = 5000; now < 15000; ++now) allowed += rate.allow(now) ? 1 : 0;
  EXPECT_GE(allowed, 100U);
  EXPECT_LE(allowed, 104U);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(rate.allow(20000));
  EXPECT_FALSE(rate.allow(20000));
}

TEST(Punts, what_is_above_its_rate_has_a_reason) {
  GuardRig rig(0);
  rig.context->punt.rates[static_cast<std::size_t>(PuntClass::neighbor)] = PuntRate::of(1'000'000'000'000, 1, 1);
  rig.down({test::arp_frame(), test::arp_frame(), test::arp_frame()});
  EXPECT_EQ(rig.dropped(DropReason::punt_limited), 2U);
  EXPECT_EQ(rig.punt.drain().size(), 1U);
}

TEST(SourceKey, of_ipv4_is_the_address_as_it_stands_in_a_packet) {
  const Bytes octets{10, 100, 0, 2};
  EXPECT_EQ(ran::source_key(IpAddress::v4({10, 100, 0, 2})), ran::source_key_v4(octets.data()));
  EXPECT_NE(ran::source_key(IpAddress::v4({10, 100, 0, 2})), ran::source_key(IpAddress::v4({10, 100, 0, 3})));
  EXPECT_NE(ran::source_key(IpAddress::v6(test::kUpfIpv6)), ran::source_key(IpAddress::v6(test::kOurIpv6)));
}

}  // namespace
}  // namespace splitplane::datapath

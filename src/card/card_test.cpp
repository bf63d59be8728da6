// The generated programs on a card: what each sends for a frame. Every punt and every drop has a reason.
#include "card/card.h"

#include <gmock/gmock.h>

#include "card/test_card.h"
#include "n3/interface.h"

namespace splitplane::nic {
namespace {

using test::air_frame;
using test::bearer;
using test::Bytes;
using test::from_ue;
using test::N3Frame;
using test::TestCard;
using test::vf_port;
using testing::ElementsAre;

TEST(CardPrograms, l2fwd_swaps_and_answers_where_it_came_from) {
  TestCard card("l2fwd");
  Bytes frame = test::to(bearer(1)).make();
  card.feed({frame}, 3);
  std::swap_ranges(frame.begin(), frame.begin() + 6, frame.begin() + 6);
  EXPECT_THAT(card.take(3), ElementsAre(frame));
}

TEST(CardPrograms, p4wire_connects_ports_and_drops_what_has_no_wire) {
  TestCard card("p4wire");
  ASSERT_TRUE(card.card->wire(kN3Port, vf_port(2)));
  ASSERT_TRUE(card.card->wire(vf_port(2), kN3Port));
  const Bytes frame = test::to(bearer(1)).make();
  card.feed({frame}, kN3Port);
  EXPECT_THAT(card.take(vf_port(2)), ElementsAre(frame));
  card.feed({frame}, vf_port(2));
  EXPECT_THAT(card.take(kN3Port), ElementsAre(frame));
  card.feed({frame}, kAirPort);
  EXPECT_EQ(card.dropped(CardDrop::no_port), 1U);
  EXPECT_FALSE(card.card->wire(0, vf_port(test::kVfs)));
}

TEST(CardPrograms, p4wire_deals_out_over_any_number_of_vfs) {
  for (const unsigned n : {1U, 3U, 5U, 8U, 64U}) {
    TestCard card("p4wire", {.vfs = n});
    ASSERT_TRUE(card.card->spread(kN3Port));
    const unsigned vfs = card.card->settings().vfs;  // if the settings have 1 VF, the fixture chooses the number
    card.feed(std::vector<Bytes>(5 * vfs, Bytes(60)), kN3Port);
    for (unsigned vf = 0; vf < vfs; ++vf) EXPECT_EQ(card.take(vf_port(vf)).size(), 5U) << vf << " of " << vfs;
  }
}

TEST(CardPrograms, downlink_packets_of_a_card_bearer_are_numbered_and_cloned) {
  TestCard card("gnb-clone");
  const CardBearer b = bearer(1);
  card.install({b});
  std::vector<Bytes> in, expected;
  for (std::uint32_t i = 0; i < 9; ++i) {
    const N3Frame frame = test::to(b, 40 + i);
    in.push_back(frame.make());
    expected.push_back(air_frame(b, i, i, frame.payload, i % 4 == 3));
  }
  card.feed(in, kN3Port);
  EXPECT_EQ(card.take(kAirPort), expected);
  EXPECT_EQ(card.take(vf_port(test::kCopies)), expected);
  const CardNumbers numbers = *card.card->numbers(b.id);
  EXPECT_EQ(numbers.pdcp_next, 9U);
  EXPECT_EQ(numbers.rlc_next, 9U);
  EXPECT_EQ(numbers.dl_packets, 9U);
  EXPECT_EQ(card.card->counters().clones, 9U);
}

// SWX works on 16 frames at once, and frames with a shorter way through the program may overtake others.
TEST(CardPrograms, a_bearers_packets_stay_in_order_among_all_others) {
  TestCard card("gnb-clone");
  const CardBearer b = bearer(1);
  card.install({b, bearer(2, Place::kHost)});
  std::vector<Bytes> in, expected;
  for (std::uint32_t i = 0; i < 200; ++i) {
    const N3Frame frame = test::to(b, 40 + i);
    if (i % 3 == 1) in.push_back(datapath::test::arp_frame());
    if (i % 5 == 2) in.push_back(test::to(bearer(3)).make());
    if (i % 7 == 3) in.push_back(test::to(bearer(2)).make());
    in.push_back(frame.make());
    expected.push_back(air_frame(b, i, i, frame.payload, i % 4 == 3));
  }
  card.feed(in, kN3Port);
  EXPECT_EQ(card.take(kAirPort), expected);
  EXPECT_EQ(card.take(vf_port(test::kCopies)), expected);
  EXPECT_EQ(card.take(vf_port(test::kPuntN3)).size() + card.take(vf_port(test::kWorkerN3)).size(), in.size() - 200);
}

TEST(CardPrograms, every_form_of_headers_is_the_hosts) {
  TestCard card("gnb-mat");
  std::uint32_t number = 0;
  for (const std::uint8_t rlc : {std::uint8_t{12}, std::uint8_t{18}}) {
    for (const std::uint8_t pdcp : {std::uint8_t{12}, std::uint8_t{18}}) {
      for (const bool sdap : {false, true}) {
        CardBearer b = bearer(++number);
        b.rlc_sn_bits = rlc;
        b.pdcp_sn_bits = pdcp;
        b.sdap_dl = sdap;
        b.epoch = 5;
        b.lease = 2047;
        b.next_count = 0x00fffffe;
        card.install({b});
        N3Frame frame = test::to(b);
        if (number % 2 != 0) frame.tags = {7};
        std::vector<Bytes> expected;
        for (std::uint32_t i = 0; i < 3; ++i) expected.push_back(air_frame(b, b.next_count + i, i, frame.payload));
        card.feed({frame.make(), frame.make(), frame.make()}, kN3Port);
        EXPECT_EQ(card.take(kAirPort), expected) << int{rlc} << " " << int{pdcp} << " " << sdap;
      }
    }
  }
}

// The last COUNTs of a lease are for packets that the host returns: it gives back no more than the lease has.
TEST(CardPrograms, a_lease_ends_at_the_host_and_is_renewed) {
  TestCard card("gnb-mat");
  CardBearer b = bearer(1);
  b.next_count = 100;
  b.lease = kLeaseReserve + 2;
  card.install({b});
  const Bytes frame = test::to(b).make();
  const Bytes sdu = test::to(b).payload, back = test::returned(b, sdu);
  card.feed({frame, frame, frame}, kN3Port);
  EXPECT_EQ(card.take(kAirPort).size(), 2U);
  EXPECT_THAT(card.take(vf_port(test::kWorkerN3)), ElementsAre(frame));
  ASSERT_TRUE(card.card->set_leases(std::array{CardLease{b.id, 102 + kLeaseReserve + 3}}));
  card.feed({frame}, kN3Port);  // behind the one at the host
  EXPECT_THAT(card.take(vf_port(test::kWorkerN3)), ElementsAre(frame));
  EXPECT_EQ(card.punted(PuntReason::diverted), 2U);
  card.feed({back, back}, vf_port(test::kWorkerAir));
  EXPECT_THAT(card.take(kAirPort), ElementsAre(air_frame(b, 102, 2, sdu), air_frame(b, 103, 3, sdu, true)));
  card.feed({frame, frame}, kN3Port);  // one has a number left
  EXPECT_THAT(card.take(kAirPort), ElementsAre(air_frame(b, 104, 4, sdu)));
  EXPECT_THAT(card.take(vf_port(test::kWorkerN3)), ElementsAre(frame));
  EXPECT_FALSE(card.card->set_leases(std::array{CardLease{BearerId{77}, 5}}));
}

TEST(CardPrograms, beyond_its_lease_a_bearer_gets_no_number) {
  TestCard card("gnb-mat");
  CardBearer b = bearer(1);
  b.next_count = 100;
  b.lease = 2;  // less than the reserve: all its packets go by way of the host
  card.install({b});
  const Bytes frame = test::to(b).make(), sdu = test::to(b).payload, back = test::returned(b, sdu);
  card.feed({frame, frame, frame}, kN3Port);
  EXPECT_EQ(card.take(vf_port(test::kWorkerN3)).size(), 3U);
  card.feed({back, back, back}, vf_port(test::kWorkerAir));
  EXPECT_THAT(card.take(kAirPort), ElementsAre(air_frame(b, 100, 0, sdu), air_frame(b, 101, 1, sdu)));
  EXPECT_EQ(card.dropped(CardDrop::lease_exhausted), 1U);
}

TEST(CardPrograms, the_hosts_bearers_and_what_nobody_knows_go_there_unchanged) {
  TestCard card("gnb-clone");
  const CardBearer b = bearer(1, Place::kHost);
  card.install({b});
  const Bytes known = test::to(b).make(), unknown = test::to(bearer(2)).make();
  card.feed({known, unknown, datapath::test::arp_frame(), Bytes(20)}, kN3Port);
  EXPECT_THAT(card.take(vf_port(test::kWorkerN3)), ElementsAre(known));
  EXPECT_THAT(card.take(vf_port(test::kPuntN3)),
              testing::UnorderedElementsAre(unknown, datapath::test::arp_frame(), Bytes(20)));
  EXPECT_EQ(card.punted(PuntReason::teid_unknown), 1U);
  EXPECT_EQ(card.punted(PuntReason::arp), 1U);
  EXPECT_EQ(card.punted(PuntReason::ethertype_unknown), 1U);
}

TEST(CardPrograms, packets_follow_those_of_their_bearer_that_the_host_has) {
  TestCard card("gnb-mat");
  CardBearer b = bearer(1);
  b.in_flight = 1;
  card.install({b});
  const N3Frame frame = test::to(b);
  card.feed({frame.make()}, kN3Port);  // behind the one in flight
  EXPECT_EQ(card.take(vf_port(test::kWorkerN3)).size(), 1U);
  EXPECT_EQ(card.card->numbers(b.id)->in_flight, 2U);
  card.feed({test::returned(b, frame.payload), test::returned(b, frame.payload)}, vf_port(test::kWorkerAir));
  card.feed({frame.make()}, kN3Port);  // nothing is in flight any more
  EXPECT_THAT(card.take(kAirPort), ElementsAre(air_frame(b, 0, 0, frame.payload), air_frame(b, 1, 1, frame.payload),
                                               air_frame(b, 2, 2, frame.payload)));
  EXPECT_EQ(card.card->numbers(b.id)->in_flight, 0U);
}

TEST(CardPrograms, a_vfs_frames_leave_unchanged) {
  TestCard card("gnb-clone");
  const CardBearer b = bearer(1);
  const Bytes air = air_frame(b, 0, 0, Bytes(40, 0x45)), n3 = test::to(b).make();
  card.feed({air, n3}, vf_port(0));
  EXPECT_THAT(card.take(kAirPort), ElementsAre(air));
  EXPECT_THAT(card.take(kN3Port), ElementsAre(n3));
  card.feed({test::returned(b, Bytes(40, 0x45))}, vf_port(0));  // no bearer of the card has this TEID
  EXPECT_EQ(card.dropped(CardDrop::returned_wrong), 1U);
}

// In such a frame SWX would read octets that an earlier frame left in the buffer.
TEST(CardPrograms, a_vfs_frame_that_is_too_short_to_be_read_is_dropped) {
  TestCard card("gnb-clone");
  const CardBearer b = bearer(1);
  card.install({b});
  const Bytes returned = test::returned(b, Bytes(1));
  unsigned number = 0;
  for (const Bytes& frame :
       {Bytes(returned.begin(), returned.begin() + 13), Bytes(returned.begin(), returned.begin() + 21),
        Bytes(returned.begin(), returned.end() - 1)}) {
    rte_mbuf* m = card.pool.make(returned);  // its octets stay where they are
    std::ranges::copy(frame, rte_pktmbuf_mtod(m, std::uint8_t*));
    rte_pktmbuf_trim(m, static_cast<std::uint16_t>(returned.size() - frame.size()));
    card.card->process(&m, 1, vf_port(0));
    EXPECT_EQ(card.dropped(CardDrop::returned_wrong), ++number) << frame.size() << " octets";
    EXPECT_TRUE(card.take(kAirPort).empty() && card.take(kN3Port).empty());
  }
}

// The card knows the bearer and so its worker: each of several workers behind a card gets the packets that it alone can
// serve.
TEST(CardPrograms, what_is_punted_of_a_known_bearer_goes_to_its_worker) {
  TestCard card("gnb-clone",
                {.vfs = test::kVfs, .punt_n3 = test::kPuntN3, .punt_air = test::kPuntAir, .verify_checksum = true});
  card.resolve_peer();
  const CardBearer b = bearer(1);
  card.install({b});
  N3Frame other_qfi = test::to(b), other_address = test::to(b);
  other_qfi.extensions = {{wire::gtpu::kExtensionPsc, {0x00, 0x89}}};  // with a paging policy
  other_address.destination ^= 1;
  Bytes checksum = test::to(b).make();
  checksum[40] = 0x12;
  const std::vector<Bytes> down{other_qfi.make(), other_address.make(), checksum, test::to(b, 1493).make()};
  card.feed(down, kN3Port);
  EXPECT_EQ(card.take(vf_port(test::kWorkerN3)), down);
  for (const PuntReason reason :
       {PuntReason::psc_form, PuntReason::not_for_us, PuntReason::udp_checksum, PuntReason::too_long})
    EXPECT_EQ(card.punted(reason), 1U) << name_of(reason);

  const Bytes whole = from_ue(b, 0, Bytes(40, 0x45));
  const auto changed = [&](std::size_t at, std::uint8_t bits) {
    Bytes frame = whole;
    frame[at] ^= bits;
    return frame;
  };
  const std::vector<Bytes> up{changed(15, 0x04), changed(24, 0x10), changed(27, 0x80), changed(30, 0x80),
                              from_ue(b, 0, Bytes(1457, 0x45))};
  card.feed(up, kAirPort);
  EXPECT_EQ(card.take(vf_port(test::kWorkerAir)), up);
  for (const PuntReason reason : {PuntReason::airhdr_form, PuntReason::rlc_segment, PuntReason::pdcp_control,
                                  PuntReason::sdap_control, PuntReason::peer_unresolved})
    EXPECT_EQ(card.punted(reason), 1U) << name_of(reason);
}

TEST(CardPrograms, the_length_of_a_returned_sdu_is_not_that_of_a_padded_frame) {
  TestCard card("gnb-mat");
  const CardBearer b = bearer(1);
  card.install({b});
  const Bytes sdu(20, 0x45);
  Bytes padded = test::returned(b, sdu);
  padded.resize(60);
  card.feed({padded}, vf_port(test::kWorkerAir));
  Bytes expected = air_frame(b, 0, 0, sdu);
  expected.resize(expected.size() + 60 - 24 - sdu.size());  // the padding goes out behind the PDU
  EXPECT_THAT(card.take(kAirPort), ElementsAre(expected));
}

TEST(CardPrograms, uplink_packets_become_the_hosts_g_pdus) {
  TestCard card("gnb-clone");
  const CardBearer b = bearer(1);
  card.install({b});
  const Bytes sdu = datapath::test::inner_packet(60);
  card.feed({from_ue(b, 0, sdu)}, kAirPort);
  EXPECT_EQ(card.punted(PuntReason::peer_unresolved), 1U);
  EXPECT_THAT(card.take(vf_port(test::kWorkerAir)), ElementsAre(from_ue(b, 0, sdu)));

  card.resolve_peer();
  card.feed({from_ue(b, 1, sdu)}, kAirPort);
  const auto peer =
      datapath::make_peer(datapath::test::our_addresses(), IpAddress::v4({10, 100, 0, 2}), datapath::test::kUpfMac);
  Bytes expected(datapath::kN3OverheadIpv4);
  datapath::write_uplink(peer, b.uplink_teid.value, 9, 0, static_cast<unsigned>(sdu.size()), expected.data());
  expected.insert(expected.end(), sdu.begin(), sdu.end());
  EXPECT_THAT(card.take(kN3Port), ElementsAre(expected));
  EXPECT_EQ(card.card->numbers(b.id)->ul_packets, 1U);

  card.card->unset_peer(9);
  card.feed({from_ue(b, 2, sdu), from_ue(bearer(2), 0, sdu)}, kAirPort);
  EXPECT_THAT(card.take(vf_port(test::kWorkerAir)), ElementsAre(from_ue(b, 2, sdu)));
  EXPECT_THAT(card.take(vf_port(test::kPuntAir)), ElementsAre(from_ue(bearer(2), 0, sdu)));
  EXPECT_EQ(card.punted(PuntReason::bearer_unknown), 1U);
}

TEST(CardPrograms, a_bearers_packets_are_in_the_vlan_of_n3_both_ways) {
  TestCard card("gnb-mat");
  CardBearer tagged = bearer(1), untagged = bearer(2);
  tagged.n3_vlan = 100;
  untagged.n3_vlan = 0;
  card.install({tagged, untagged});
  const auto frame = [](const CardBearer& b, std::vector<std::uint16_t> tags) {
    N3Frame made = test::to(b);
    made.tags = std::move(tags);
    return made.make();
  };
  const Bytes sdu = test::to(tagged).payload;
  card.feed({frame(tagged, {100}), frame(tagged, {0xe000 + 100}), frame(untagged, {})}, kN3Port);  // PCP is free
  EXPECT_THAT(card.take(kAirPort),
              ElementsAre(air_frame(tagged, 0, 0, sdu), air_frame(tagged, 1, 1, sdu), air_frame(untagged, 0, 0, sdu)));
  Bytes service = frame(tagged, {100});
  service[12] = 0x88, service[13] = 0xa8;
  const std::vector<Bytes> wrong{frame(tagged, {101}), frame(tagged, {}), service, frame(untagged, {100}),
                                 frame(untagged, {0})};
  card.feed(wrong, kN3Port);
  EXPECT_EQ(card.take(vf_port(test::kWorkerN3)), wrong);
  EXPECT_EQ(card.punted(PuntReason::not_for_us), wrong.size());
  EXPECT_EQ(card.card->numbers(tagged.id)->in_flight, 0U) << "the host drops what is not for it";

  card.resolve_peer(100);
  const Bytes up = datapath::test::inner_packet(60);
  card.feed({from_ue(tagged, 0, up)}, kAirPort);
  datapath::N3Addresses ours = datapath::test::our_addresses();
  ours.vlan = 100;
  const auto peer = datapath::make_peer(ours, IpAddress::v4({10, 100, 0, 2}), datapath::test::kUpfMac);
  Bytes expected(datapath::kN3OverheadIpv4 + datapath::kVlanTagBytes);
  datapath::write_uplink<datapath::kVlanTagBytes>(peer, tagged.uplink_teid.value, 9, 0,
                                                  static_cast<unsigned>(up.size()), expected.data());
  expected.insert(expected.end(), up.begin(), up.end());
  EXPECT_THAT(card.take(kN3Port), ElementsAre(expected));
}

TEST(CardPrograms, rlc_control_goes_to_the_copies) {
  TestCard card("gnb-clone");
  const CardBearer b = bearer(1);
  card.install({b});
  Bytes status = from_ue(b, 0, Bytes(20));
  status[24] = 0;  // D/C 0
  card.feed({status}, kAirPort);
  EXPECT_THAT(card.take(vf_port(test::kCopies)), ElementsAre(status));
  // An acknowledgement without a NACK has 3 octets; the link may pad its frame.
  Bytes shortest(status.begin(), status.begin() + 27);
  wire::store_be16(shortest.data() + 22, 3);
  Bytes padded = shortest;
  padded.resize(60);
  card.feed({shortest, padded}, kAirPort);
  EXPECT_THAT(card.take(vf_port(test::kCopies)), ElementsAre(shortest, padded));
  EXPECT_EQ(card.card->counters().rlc_control, 3U);
}

TEST(CardPrograms, the_fixed_bearer_ends_when_it_is_removed_and_goes_to_the_host_when_it_is_placed_there) {
  TestCard card("gnb-headers");
  CardBearer b = bearer(1);
  card.install({b});
  card.feed({test::to(b).make()}, kN3Port);
  EXPECT_EQ(card.take(kAirPort).size(), 1U);
  b.place = Place::kHost;
  card.install({b});
  card.feed({test::to(b).make()}, kN3Port);
  EXPECT_EQ(card.take(vf_port(b.vf_n3)).size(), 1U);
  b.place = Place::kCard;
  card.install({b});
  ASSERT_TRUE(card.card->remove(std::array{b.id}));
  card.feed({test::to(b).make()}, kN3Port);
  EXPECT_TRUE(card.take(kAirPort).empty());
  EXPECT_EQ(card.take(vf_port(test::kPuntN3)).size(), 1U);
  EXPECT_EQ(card.punted(PuntReason::teid_unknown), 1U);
}

TEST(CardPrograms, clones_of_bearers_go_to_their_vfs) {
  TestCard card("gnb-clone", {.vfs = 8, .punt_n3 = test::kPuntN3, .punt_air = test::kPuntAir});
  std::vector<CardBearer> bearers;
  for (std::uint32_t i = 0; i < 8; ++i) {
    bearers.push_back(bearer(i + 1));
    bearers.back().copies_vf = 4 + i % 4;
  }
  card.install(bearers);
  for (const CardBearer& b : bearers) card.feed({test::to(b).make(), test::to(b).make()}, kN3Port);
  EXPECT_EQ(card.take(kAirPort).size(), 16U);
  for (unsigned vf = 4; vf < 8; ++vf) EXPECT_EQ(card.take(vf_port(vf)).size(), 4U) << vf;
}

TEST(CardPrograms, clone_drop_makes_clones_that_go_nowhere) {
  TestCard card("gnb-clone_drop");
  card.install({bearer(1)});
  card.feed({test::to(bearer(1)).make()}, kN3Port);
  EXPECT_EQ(card.take(kAirPort).size(), 1U);
  EXPECT_EQ(card.card->counters().clones_sunk, 1U);
}

TEST(CardPrograms, drop_decap_and_headers_do_that_and_no_more) {
  const N3Frame frame = test::to(bearer(3));
  {
    TestCard card("gnb-drop");
    card.feed({frame.make(), frame.make()}, kN3Port);
    EXPECT_EQ(card.dropped(CardDrop::feature_drop), 2U);
  }
  {
    TestCard card("gnb-decap");
    card.install({bearer(1)});
    card.feed({frame.make()}, kN3Port);
    Bytes expected(14);
    wire::ethernet::write(expected, test::kAirDst.octets, test::kAirSrc.octets, wire::ethernet::kTypeIpv4);
    expected.insert(expected.end(), frame.payload.begin(), frame.payload.end());
    EXPECT_THAT(card.take(kAirPort), ElementsAre(expected));
  }
  TestCard card("gnb-headers");
  card.install({bearer(1)});
  card.feed({frame.make()}, kN3Port);
  EXPECT_THAT(card.take(kAirPort), ElementsAre(air_frame(bearer(1), 0, 0, frame.payload)));
}

TEST(CardPrograms, a_ue_address_finds_its_bearer) {
  TestCard card("gnb-clone-ue");
  ASSERT_TRUE(card.card->by_ue_address());
  CardBearer b = bearer(1);
  b.ue_ipv4 = IpAddress::v4({10, 45, 0, 2});
  b.ue_ipv6 = *IpAddress::parse("2001:db8::2");
  card.install({b});
  N3Frame v4 = test::to(b), v6 = test::to(b, 60);
  v4.teid = v6.teid = 0x99;  // the value does not matter
  std::ranges::copy(b.ue_ipv4->octets().begin(), b.ue_ipv4->octets().begin() + 4, v4.payload.begin() + 16);
  v6.payload[0] = 0x60;
  std::ranges::copy(b.ue_ipv6->octets(), v6.payload.begin() + 24);
  card.feed({v4.make(), v6.make(), test::to(b).make()}, kN3Port);
  EXPECT_THAT(card.take(kAirPort), ElementsAre(air_frame(b, 0, 0, v4.payload), air_frame(b, 1, 1, v6.payload)));
  EXPECT_EQ(card.take(vf_port(test::kPuntN3)).size(), 1U);
  EXPECT_EQ(card.punted(PuntReason::ue_unknown), 1U);
  (void)card.take(vf_port(test::kCopies));
}

TEST(CardPrograms, a_marker_sends_its_share_to_the_host) {
  TestCard card("gnb-clone-marker");
  card.install({bearer(1)});
  ASSERT_TRUE(card.card->set_markers(0xffff000000000000, test::kWorkerN3));
  std::vector<Bytes> frames;
  for (unsigned i = 0; i < 64; ++i) {
    Bytes frame = test::to(bearer(1)).make();
    frame[19] = static_cast<std::uint8_t>(0x40 | i);
    frames.push_back(frame);
  }
  card.feed(frames, kN3Port);
  EXPECT_EQ(card.take(vf_port(test::kWorkerN3)).size(), 16U);
  EXPECT_EQ(card.take(kAirPort).size(), 48U);
  EXPECT_EQ(card.take(vf_port(test::kCopies)).size(), 48U);
  TestCard plain("gnb-clone");
  EXPECT_FALSE(plain.card->set_markers(1, 0));
}

TEST(CardPrograms, a_constant_changed_in_a_copy_of_the_program_changes_the_octets_that_leave) {
  std::string text = test::generated("gnb-mat");
  const std::size_t action = text.find("action am18_pdcp18_sdap args"),
                    at = text.find("h.ethernet.type 0x88B5", action);
  ASSERT_NE(at, std::string::npos);
  text[at + 21] = '6';
  TestCard card("changed", text, {});
  card.install({bearer(1)});
  card.feed({test::to(bearer(1)).make()}, kN3Port);
  Bytes expected = air_frame(bearer(1), 0, 0, test::to(bearer(1)).payload);
  expected[13] = 0xb6;
  EXPECT_THAT(card.take(kAirPort), ElementsAre(expected));
}

TEST(CardPrograms, checksums_are_the_hosts_to_verify_if_it_wants_to) {
  Bytes frame = test::to(bearer(1)).make();
  frame[40] = 0x12;
  TestCard trusting("gnb-mat");
  trusting.install({bearer(1)});
  trusting.feed({frame}, kN3Port);
  EXPECT_EQ(trusting.take(kAirPort).size(), 1U);
  TestCard strict("gnb-mat", {.verify_checksum = true});
  strict.install({bearer(1)});
  strict.feed({frame}, kN3Port);
  EXPECT_EQ(strict.take(vf_port(test::kWorkerN3)).size(), 1U);
  EXPECT_EQ(strict.punted(PuntReason::udp_checksum), 1U);
}

TEST(CardPrograms, a_frame_without_headroom_is_dropped_and_counted) {
  TestCard card("gnb-mat");
  rte_mbuf* m = card.pool.make(test::to(bearer(1)).make(), 63);
  card.card->process(&m, 1, kN3Port);
  EXPECT_EQ(card.dropped(CardDrop::no_headroom), 1U);
}

}  // namespace
}  // namespace splitplane::nic

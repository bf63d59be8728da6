// Frames of every kind, read by the parsers of wire/: checksums, identities, numbers, stamp. tests/e2e also checks them
// with tshark and scapy.
#include "traffic/packet_maker.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "traffic/frame_reader.h"
#include "wire/airhdr.h"
#include "wire/n3.h"
#include "wire/pdcp.h"
#include "wire/rlc.h"
#include "wire/sdap.h"

namespace splitplane::traffic {
namespace {

IpAddress ip(const char* text) {
  return *IpAddress::parse(text);
}

FlowSpec flow_of(bool outer_ipv6, bool inner_ipv6, std::uint32_t id) {
  FlowSpec flow;
  flow.bearer.id = BearerId{id};
  flow.bearer.upf = ip(outer_ipv6 ? "fd00:100::2" : "10.100.0.2");
  flow.gnb = ip(outer_ipv6 ? "fd00:100::1" : "10.100.0.1");
  flow.bearer.ue_ipv4 = ip("10.45.255.255").plus(id);
  flow.bearer.ue_ipv6 = ip("fd00:45::ffff:fffe").plus(id);
  flow.bearer.qfi = Qfi{static_cast<std::uint8_t>(id % 64)};
  flow.ipv6 = inner_ipv6;
  return flow;
}

MakerSettings settings_of(Direction direction) {
  return {.direction = direction,
          .from = {{2, 0, 0, 0, 0, 1}},
          .to = {{2, 0, 0, 0, 0, 2}},
          .server_ipv4 = ip("10.200.0.1"),
          .server_ipv6 = ip("fd00:200::1"),
          .sizes = {80, 81, 576, 1400},
          .run = 77};
}

// Checks the checksums of the IP packet and returns its UDP payload.
Octets checked_payload(Octets packet) {
  if (packet[0] >> 4 == 4) {
    const auto header = wire::ipv4::parse(packet);
    EXPECT_TRUE(header && wire::ipv4::checksum_is_good(packet, *header));
    EXPECT_TRUE(wire::udp::checksum_is_good(packet.subspan(12, 4), packet.subspan(16, 4), packet.subspan(20)));
    return packet.subspan(28);
  }
  EXPECT_TRUE(wire::ipv6::parse(packet));
  EXPECT_TRUE(wire::udp::checksum_is_good(packet.subspan(8, 16), packet.subspan(24, 16), packet.subspan(40)));
  return packet.subspan(48);
}

TEST(PacketMaker, downlink_frames_are_right_in_every_family_and_size) {
  std::vector<FlowSpec> flows;
  for (std::uint32_t id = 1; id <= 200; ++id) flows.push_back(flow_of((id & 1U) != 0, (id & 2U) != 0, id * 0x01010101));
  const MakerSettings settings = settings_of(Direction::kDownlink);
  PacketMaker maker(settings, flows);
  std::vector<std::uint8_t> room(2048, 0xEE);
  for (std::uint32_t round = 0; round < 3; ++round) {
    for (std::uint32_t flow = 0; flow < maker.flows(); ++flow) {
      const std::uint32_t size = (flow / 4 + round) % 4;
      const Octets frame(room.data(), maker.make(flow, size, 1000 + round, room.data()));
      const auto packet = wire::n3::parse(frame);
      ASSERT_TRUE(packet) << name_of(packet.reason);
      EXPECT_EQ(packet->gtpu.teid.value, flows[flow].bearer.id.value);
      EXPECT_EQ(packet->gtpu.psc.qfi, flows[flow].bearer.qfi);
      EXPECT_EQ(packet->gtpu.psc.type, wire::psc::PduType::kDownlink);
      EXPECT_EQ(packet->payload_bytes, settings.sizes[size]);
      checked_payload(frame.subspan(packet->ip_offset));
      const Octets inner = frame.subspan(packet->payload_offset, packet->payload_bytes);
      checked_payload(inner);
      const auto& bearer = flows[flow].bearer;
      const IpAddress ue = *(flows[flow].ipv6 ? bearer.ue_ipv6 : bearer.ue_ipv4);
      const Octets destination = flows[flow].ipv6 ? inner.subspan(24, 16) : inner.subspan(16, 4);
      EXPECT_TRUE(std::equal(destination.begin(), destination.end(), ue.octets().begin()));
      const Reading reading = read_frame(frame);
      EXPECT_EQ(reading.seen, Seen::stamped);
      EXPECT_EQ(reading.tunnel, bearer.id.value);
      EXPECT_EQ(reading.stamp, (Stamp{.run = 77, .flow = flow, .sequence = round, .intended_ns = 1000 + round}));
    }
  }
}

TEST(PacketMaker, every_upf_has_its_own_frames_however_many_there_are) {
  MakerSettings settings = settings_of(Direction::kDownlink);
  settings.sizes.assign(1000, 80);
  std::vector<FlowSpec> flows;
  for (std::uint32_t id = 0; id < 70; ++id) {
    flows.push_back(flow_of(false, false, id));
    flows.back().bearer.upf = ip("10.100.0.2").plus(id);
  }
  PacketMaker maker(settings, flows);
  std::vector<std::uint8_t> room(2048);
  for (std::uint32_t flow = 0; flow < maker.flows(); ++flow) {
    const Octets frame(room.data(), maker.make(flow, 999, 1, room.data()));
    EXPECT_TRUE(std::equal(frame.begin() + 26, frame.begin() + 30, flows[flow].bearer.upf.octets().begin())) << flow;
  }
}

TEST(PacketMaker, uplink_frames_number_rlc_and_pdcp_of_every_mode_and_wrap) {
  std::vector<FlowSpec> flows;
  for (const auto& [mode, rlc_bits] :
       {std::pair{RlcMode::kAm, 18}, {RlcMode::kAm, 12}, {RlcMode::kUm, 12}, {RlcMode::kUm, 6}, {RlcMode::kTm, 0}}) {
    for (const int pdcp_bits : {12, 18}) {
      for (const bool sdap : {true, false}) {
        FlowSpec flow = flow_of(false, flows.size() % 2 == 1, 0x04000000 + static_cast<std::uint32_t>(flows.size()));
        flow.bearer.rlc_mode = mode;
        flow.bearer.rlc_sn_bits = static_cast<std::uint8_t>(rlc_bits);
        flow.bearer.pdcp_sn_bits = static_cast<std::uint8_t>(pdcp_bits);
        flow.bearer.sdap_header_ul = sdap;
        flow.bearer.poll_pdu = 4;
        flow.pdcp_first = (1U << pdcp_bits) - 3;
        flow.rlc_first = rlc_bits == 0 ? 0 : (1U << rlc_bits) - 5;
        flows.push_back(flow);
      }
    }
  }
  PacketMaker maker(settings_of(Direction::kUplink), flows);
  std::vector<std::uint8_t> room(2048, 0xEE);
  for (std::uint32_t n = 0; n < 10; ++n) {
    for (std::uint32_t flow = 0; flow < maker.flows(); ++flow) {
      const auto& b = flows[flow].bearer;
      const Octets frame(room.data(), maker.make(flow, n % 4, n, room.data()));
      const auto air = wire::airhdr::parse(frame.subspan(14));
      ASSERT_TRUE(air);
      EXPECT_EQ(air->direction, Direction::kUplink);
      EXPECT_EQ(air->bearer, b.id);
      EXPECT_EQ(air->rlc_mode, b.rlc_mode);
      EXPECT_EQ(air->pdu_bytes, frame.size() - 24);
      Octets pdu = wire::airhdr::pdu_of(*air, frame.subspan(14));
      if (b.rlc_mode == RlcMode::kAm) {
        const auto rlc = wire::rlc::parse_am(pdu, b.rlc_sn_bits);
        ASSERT_TRUE(rlc);
        EXPECT_EQ(rlc->sn, (flows[flow].rlc_first + n) % (1U << b.rlc_sn_bits));
        EXPECT_EQ(rlc->poll, n % 4 == 3);
        EXPECT_EQ(rlc->si, wire::rlc::Segment::kComplete);
        pdu = pdu.subspan(rlc->header_bytes);
      } else if (b.rlc_mode == RlcMode::kUm) {
        ASSERT_TRUE(wire::rlc::parse_um(pdu, b.rlc_sn_bits));
        pdu = pdu.subspan(1);
      }
      const auto pdcp = wire::pdcp::parse_data(pdu, b.pdcp_sn_bits);
      ASSERT_TRUE(pdcp);
      EXPECT_EQ(pdcp->sn, (flows[flow].pdcp_first + n) % (1U << b.pdcp_sn_bits));
      pdu = pdu.subspan(pdcp->header_bytes);
      if (b.sdap_header_ul) {
        const auto sdap = wire::sdap::parse_uplink(pdu.first(1));
        EXPECT_TRUE(sdap->is_data);
        EXPECT_EQ(sdap->qfi, b.qfi);
        pdu = pdu.subspan(1);
      }
      checked_payload(pdu);
      const Reading reading = read_frame(frame);
      EXPECT_EQ(reading.seen, Seen::stamped);
      EXPECT_TRUE(reading.on_air);
      EXPECT_EQ(reading.stamp.sequence, n);
    }
  }
}

TEST(PacketMaker, a_packet_taken_back_gives_its_numbers_to_the_next) {
  PacketMaker maker(settings_of(Direction::kUplink), {flow_of(false, false, 1)});
  std::vector<std::uint8_t> room(2048);
  std::ignore = maker.make(0, 0, 5, room.data());
  const std::vector<std::uint8_t> first(room.begin(), room.begin() + 80);
  maker.take_back(0);
  EXPECT_EQ(maker.sent(0), 0U);
  std::ignore = maker.make(0, 0, 5, room.data());
  EXPECT_TRUE(std::equal(first.begin(), first.end(), room.begin()));
}

TEST(FrameReader, a_frame_cut_anywhere_is_never_read_as_stamped) {
  for (const Direction direction : {Direction::kDownlink, Direction::kUplink}) {
    PacketMaker maker(settings_of(direction), {flow_of(true, true, 9)});
    std::vector<std::uint8_t> room(2048);
    const unsigned size = maker.make(0, 0, 5, room.data());
    for (unsigned n = 0; n < size; ++n) {
      const std::vector<std::uint8_t> cut(room.begin(),
                                          room.begin() + n);  // separate memory: a sanitizer sees a read beyond it
      EXPECT_NE(read_frame(cut).seen, Seen::stamped) << n;
    }
  }
}

TEST(FrameReader, what_is_not_ours_is_told_apart) {
  PacketMaker maker(settings_of(Direction::kDownlink), {flow_of(false, false, 9)});
  std::vector<std::uint8_t> room(2048);
  const unsigned size = maker.make(0, 0, 5, room.data());
  room.resize(size);
  const auto seen_with = [&](std::size_t at, std::uint8_t octet) {
    auto frame = room;
    frame[at] = octet;
    return read_frame(frame).seen;
  };
  EXPECT_EQ(seen_with(12, 0x08), Seen::stamped);
  EXPECT_EQ(seen_with(13, 0x06), Seen::other_protocol);                     // ARP
  EXPECT_EQ(seen_with(14 + 20 + 2, 0x09), Seen::other_protocol);            // another UDP port
  EXPECT_EQ(seen_with(14 + 28 + 1, 1), Seen::gtpu_other);                   // an Echo Request
  EXPECT_EQ(seen_with(14 + 28, 0x54), Seen::unreadable);                    // GTP version 2
  EXPECT_EQ(seen_with(14 + 28 + 16 + 28, 0), Seen::foreign);                // no magic
  EXPECT_EQ(seen_with(14 + 28 + 16 + 28 + 31, 0xAA), Seen::stamp_damaged);  // another time
}

TEST(FrameReader, control_pdus_and_segments_on_the_air_are_told_apart) {
  PacketMaker maker(settings_of(Direction::kUplink), {flow_of(false, false, 9)});
  std::vector<std::uint8_t> room(2048);
  room.resize(maker.make(0, 0, 5, room.data()));
  auto control = room;
  control[24] = 0x00;
  EXPECT_EQ(read_frame(control).seen, Seen::rlc_control);
  auto segment = room;
  segment[24] = 0x90;
  EXPECT_EQ(read_frame(segment).seen, Seen::unreadable);
  auto version = room;
  version[14] = 0x10;
  EXPECT_EQ(read_frame(version).seen, Seen::unreadable);
}

}  // namespace
}  // namespace splitplane::traffic

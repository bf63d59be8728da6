// Uplink headers towards a UPF: what the parsers of wire/ read in them, checksums included, at every payload size.
#include "n3/interface.h"

#include <gtest/gtest.h>

#include <memory>

#include "n3/test_frames.h"
#include "wire/n3.h"

namespace splitplane::datapath {
namespace {

using test::Bytes;

// A whole uplink frame on heap memory of exactly its size.
Bytes uplink_frame(const N3Peer& peer, std::uint32_t teid, std::uint8_t qfi, const Bytes& tpdu, std::uint8_t tos = 0) {
  const std::size_t total = peer.header_bytes + tpdu.size();
  const auto exact = std::make_unique<std::uint8_t[]>(total);
  std::copy(tpdu.begin(), tpdu.end(), exact.get() + peer.header_bytes);
  write_uplink(peer, teid, qfi, tos, static_cast<unsigned>(tpdu.size()), exact.get());
  return {exact.get(), exact.get() + total};
}

void expect_right(const Bytes& frame, bool ipv6, std::uint32_t teid, std::uint8_t qfi, const Bytes& tpdu) {
  const auto packet = wire::n3::parse(frame);
  ASSERT_TRUE(packet) << name_of(packet.reason);
  EXPECT_TRUE(std::ranges::equal(wire::ethernet::destination(frame), test::kUpfMac.octets));
  EXPECT_TRUE(std::ranges::equal(wire::ethernet::source(frame), test::kOurMac.octets));
  EXPECT_EQ(packet->is_ipv6, ipv6);
  EXPECT_EQ(packet->source_port, wire::gtpu::kPort);
  EXPECT_EQ(packet->gtpu.message_type, wire::gtpu::kGpdu);
  EXPECT_EQ(packet->gtpu.teid.value, teid);
  ASSERT_TRUE(packet->gtpu.has_psc);
  EXPECT_EQ(packet->gtpu.psc.type, wire::psc::PduType::kUplink);
  EXPECT_EQ(packet->gtpu.psc.qfi.value, qfi);
  EXPECT_EQ(packet->payload_offset + packet->payload_bytes, frame.size());
  EXPECT_EQ(Bytes(frame.begin() + packet->payload_offset, frame.end()), tpdu);

  const wire::Octets ip = wire::Octets(frame).subspan(14);
  if (ipv6) {
    EXPECT_TRUE(std::ranges::equal(wire::ipv6::source(ip), test::kOurIpv6));
    EXPECT_TRUE(std::ranges::equal(wire::ipv6::destination(ip), test::kUpfIpv6));
    EXPECT_TRUE(wire::udp::checksum_is_good(wire::ipv6::source(ip), wire::ipv6::destination(ip), ip.subspan(40)));
    EXPECT_NE(wire::load_be16(ip.data() + 46), 0) << "IPv6 has no absent checksum (RFC 8200 8.1)";
  } else {
    const auto header = wire::ipv4::parse(ip);
    EXPECT_TRUE(wire::ipv4::checksum_is_good(ip, *header));
    EXPECT_EQ(header->source, test::kOurIpv4);
    EXPECT_EQ(header->destination, test::kUpfIpv4);
    EXPECT_EQ(wire::load_be16(ip.data() + 26), 0);
  }
}

class N3Uplink : public testing::TestWithParam<bool> {
 protected:
  static N3Peer peer() {
    return make_peer(test::our_addresses(), GetParam() ? IpAddress::v6(test::kUpfIpv6) : IpAddress::v4({10, 100, 0, 2}),
                     test::kUpfMac);
  }
};

TEST_P(N3Uplink, headers_are_right_for_every_payload_size) {
  const N3Peer p = peer();
  EXPECT_EQ(p.header_bytes, GetParam() ? kN3OverheadIpv6 : kN3OverheadIpv4);
  for (std::size_t bytes = 1; bytes < 1600; bytes += bytes < 200 ? 1 : 37) {
    const auto qfi = static_cast<std::uint8_t>(bytes % 64);
    const Bytes tpdu = test::inner_packet(bytes, static_cast<std::uint8_t>(bytes));
    expect_right(uplink_frame(p, 0xdeadbeef, qfi, tpdu), GetParam(), 0xdeadbeef, qfi, tpdu);
    if (HasFatalFailure()) return;
  }
}

TEST_P(N3Uplink, the_largest_packets_that_ip_can_carry_are_right) {
  const std::size_t most = GetParam() ? 65535 - 24 : 65535 - 44;
  for (const std::size_t bytes : {most - 1, most}) {
    const Bytes tpdu = test::inner_packet(bytes);
    expect_right(uplink_frame(peer(), 1, 63, tpdu), GetParam(), 1, 63, tpdu);
  }
}

TEST_P(N3Uplink, an_unresolved_peer_says_so_and_has_its_headers_ready) {
  const N3Peer resolved = peer();
  const N3Peer p = make_peer(test::our_addresses(),
                             GetParam() ? IpAddress::v6(test::kUpfIpv6) : IpAddress::v4({10, 100, 0, 2}), std::nullopt);
  EXPECT_TRUE(resolved.resolved);
  EXPECT_FALSE(p.resolved);
  EXPECT_TRUE(std::equal(p.header.begin() + 6, p.header.end(), resolved.header.begin() + 6));
}

INSTANTIATE_TEST_SUITE_P(Families, N3Uplink, testing::Bool(),
                         [](const auto& family) { return family.param ? "IPv6" : "IPv4"; });

TEST(N3Uplink, the_ipv4_checksum_is_right_for_every_total_length) {
  const N3Peer p = make_peer(test::our_addresses(), IpAddress::v4({255, 255, 255, 254}), test::kUpfMac);
  Bytes room(kN3OverheadIpv4);
  for (unsigned payload = 0; payload <= 65535 - 44; ++payload) {
    write_uplink(p, 1, 1, static_cast<std::uint8_t>(payload), payload, room.data());
    ASSERT_EQ(wire::checksum_finish(wire::checksum_add(0, wire::Octets(room).subspan(14, 20))), 0) << payload;
    ASSERT_EQ(wire::load_be16(room.data() + 16), payload + 44);
  }
}

TEST(N3Uplink, a_udp_sum_of_zero_over_ipv6_is_sent_as_ffff) {
  const N3Peer p = make_peer(test::our_addresses(), IpAddress::v6(test::kUpfIpv6), test::kUpfMac);
  Bytes tpdu(64);
  const Bytes first = uplink_frame(p, 1, 1, tpdu);
  wire::store_be16(tpdu.data(), wire::load_be16(first.data() + 60));  // makes the sum of all words ffff
  const Bytes frame = uplink_frame(p, 1, 1, tpdu);
  EXPECT_EQ(wire::load_be16(frame.data() + 60), 0xffff);
  expect_right(frame, true, 1, 1, tpdu);
}

}  // namespace
}  // namespace splitplane::datapath

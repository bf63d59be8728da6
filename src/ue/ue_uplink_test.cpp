#include "ue/ue_uplink.h"

#include <gtest/gtest.h>

#include "ue/ue_test_frames.h"

namespace splitplane::ue {
namespace {

using namespace test;

class UeUplinkTest : public ::testing::Test {
 protected:
  // The headers that frame() writes before the packet, as hex; on a refusal the outcome's name.
  std::string headers(const std::string& packet, std::size_t room_bytes = kMaxUplinkOverhead) {
    HeapOctets room(room_bytes);
    const HeapOctets octets{from_hex(packet)};
    last_ = uplink_.frame(room.all(), octets);
    if (last_.outcome != UeOutcome::ok) return std::string(name_of(last_.outcome));
    return to_hex(wire::Octets(room).last(last_.overhead_bytes));
  }
  UeBearer& the_bearer() { return *bearers_.find(BearerId{0x01020304}); }

  UeBearers bearers_;
  UeUplink uplink_{bearers_, kAir};
  UeUplink::Framed last_;
};

TEST_F(UeUplinkTest, every_mode_and_length_is_written_as_the_formats_say) {
  bearers_.establish(bearer(RlcMode::kAm, 18, 18), {});
  EXPECT_EQ(headers(kPacket), tidy(std::string(kToGnb) + "205e 0000 01020304 0025 800000 800000 89"));
  bearers_.establish(bearer(RlcMode::kAm, 12, 12), {});
  EXPECT_EQ(headers(kPacket), tidy(std::string(kToGnb) + "2052 0000 01020304 0023 8000 8000 89"));
  bearers_.establish(bearer(RlcMode::kUm, 12, 12), {});
  EXPECT_EQ(headers(kPacket), tidy(std::string(kToGnb) + "2032 0000 01020304 0022 00 8000 89"));
  bearers_.establish(bearer(RlcMode::kUm, 6, 18, false), {});
  EXPECT_EQ(headers(kPacketV6), tidy(std::string(kToGnb) + "202c 0000 01020304 0034 00 800000"));
  bearers_.establish(bearer(RlcMode::kTm, 0, 18, false), {});
  EXPECT_EQ(headers(kPacket), tidy(std::string(kToGnb) + "2004 0000 01020304 0021 800000"));
  EXPECT_EQ(last_.packet_bytes, 30U);
  EXPECT_EQ(the_bearer().uplink.received, 5U);
}

TEST_F(UeUplinkTest, numbers_count_up_and_wrap_and_every_second_pdu_polls) {
  bearers_.establish(bearer(RlcMode::kAm, 12, 12), {.pdcp_uplink = 0xffe, .rlc_uplink = 0xffe});
  const std::string link = std::string(kToGnb) + "2052 0000 01020304";
  EXPECT_EQ(headers(kPacket), tidy(link + "0023 8ffe 8ffe 89"));
  EXPECT_EQ(headers(kPacket), tidy(link + "0023 cfff 8fff 89"));
  EXPECT_EQ(headers(kPacketV6), tidy(link + "0035 8000 8000 89"));
  EXPECT_EQ(headers(kPacket), tidy(link + "0023 c001 8001 89"));
  EXPECT_EQ(the_bearer().pdcp_tx_next, 0x1002U);
  EXPECT_EQ(the_bearer().uplink.polls, 2U);
  bearers_.establish(bearer(RlcMode::kAm, 18, 18), {.pdcp_uplink = 0x3ffff, .rlc_uplink = 0x3ffff});
  const std::string link18 = std::string(kToGnb) + "205e 0000 01020304";
  EXPECT_EQ(headers(kPacket), tidy(link18 + "0025 83ffff 83ffff 89"));
  EXPECT_EQ(headers(kPacket), tidy(link18 + "0025 c00000 800000 89"));
}

TEST_F(UeUplinkTest, poll_pdu_0_never_polls) {
  auto config = bearer(RlcMode::kAm, 12, 12);
  config.poll_pdu = 0;
  bearers_.establish(config, {});
  for (int i = 0; i < 70000; ++i) headers(kPacket);  // beyond 16 bits
  EXPECT_EQ(the_bearer().uplink.polls, 0U);
}

TEST_F(UeUplinkTest, a_status_acknowledges_the_number_after_the_highest_received) {
  bearers_.establish(bearer(RlcMode::kAm, 12, 12), {});
  for (std::uint32_t sn = 0; sn < 10; ++sn) the_bearer().rlc_rx.accept(sn);
  HeapOctets out(kStatusFrameBytes);
  EXPECT_EQ(uplink_.write_status(the_bearer(), out.all()), kStatusFrameBytes);
  EXPECT_EQ(to_hex(out), tidy(std::string(kToGnb) + "2052 0000 01020304 0003 000a00"));  // R12
  bearers_.establish(bearer(RlcMode::kAm, 18, 18), {.rlc_downlink = 0x2abce});
  the_bearer().rlc_rx.accept(0x2abce);
  EXPECT_EQ(uplink_.write_status(the_bearer(), out.all()), kStatusFrameBytes);
  EXPECT_EQ(to_hex(out), tidy(std::string(kToGnb) + "205e 0000 01020304 0003 0aaf3c"));  // R16
  HeapOctets less(kStatusFrameBytes - 1);
  EXPECT_EQ(uplink_.write_status(the_bearer(), less.all()), 0U);
  bearers_.establish(bearer(RlcMode::kUm, 12, 12), {});
  EXPECT_EQ(uplink_.write_status(the_bearer(), out.all()), 0U);
}

TEST_F(UeUplinkTest, counts_never_come_round_to_0) {
  bearers_.establish(bearer(RlcMode::kAm, 18, 18), {.pdcp_uplink = 0xfffffffe});
  EXPECT_NE(headers(kPacket), "count_exhausted");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(headers(kPacket), "count_exhausted");
  EXPECT_EQ(the_bearer().pdcp_tx_next, 0xffffffffU);
  EXPECT_EQ(the_bearer().rlc_tx_next, 1U);
  EXPECT_EQ(the_bearer().uplink.dropped, 3U);
}

TEST_F(UeUplinkTest, refusals_have_names_and_use_up_no_number) {
  bearers_.establish(bearer(RlcMode::kAm, 18, 18), {});
  EXPECT_EQ(headers(""), "pdu_too_short");
  EXPECT_EQ(headers("1234"), "not_ip");
  EXPECT_EQ(headers(std::string(kPacket).substr(0, 58)), "ipv4_bad_total_length");
  EXPECT_EQ(headers(std::string(kPacket).substr(0, 38)), "ipv4_truncated");
  EXPECT_EQ(headers("60000000 0008 11 40 fd00004500000000000000000000"), "ipv6_truncated");
  EXPECT_EQ(headers(std::string(kPacketV6).substr(0, std::string(kPacketV6).size() - 2)), "ipv6_bad_payload_length");
  std::string stranger = kPacket;
  EXPECT_EQ(headers(stranger.replace(24, 8, "0a2d0003")), "source_unknown");
  EXPECT_EQ(headers(stranger.replace(24, 8, "00000000")), "source_link_local");
  EXPECT_EQ(headers(stranger.replace(24, 8, "a9fe0101")), "source_link_local");
  EXPECT_EQ(headers("60000000 0000 3a ff fe800000000000000000000000000001 ff020000000000000000000000000002"),
            "source_link_local");
  EXPECT_EQ(headers("60000000 0000 3a ff 00000000000000000000000000000000 ff020000000000000000000000000016"),
            "source_link_local");
  EXPECT_EQ(the_bearer().uplink.received, 0U);
  EXPECT_EQ(headers(kPacket, kMaxUplinkOverhead - 1), "no_headroom");
  const UeUplink::Framed none = uplink_.frame({}, from_hex(kPacket));
  EXPECT_EQ(name_of(none.outcome), "no_headroom");
  EXPECT_EQ(the_bearer().uplink.dropped, 2U);
  EXPECT_EQ(the_bearer().pdcp_tx_next, 0U);
  EXPECT_EQ(the_bearer().rlc_tx_next, 0U);
}

TEST_F(UeUplinkTest, the_longest_packet_fills_the_air_ports_mtu) {
  bearers_.establish(bearer(RlcMode::kAm, 18, 18), {});
  const auto packet_of = [](std::size_t bytes) {
    std::string hex = kPacket;
    hex.replace(4, 4, fmt::format("{:04x}", bytes));
    return hex + std::string(2 * bytes - hex.size(), '0');
  };
  EXPECT_EQ(headers(packet_of(1500 - 17 + 1)), "packet_too_long");
  EXPECT_EQ(headers(packet_of(1500 - 17)).size(), 2 * 31U);
  EXPECT_EQ(last_.packet_bytes, 1483U);
}

}  // namespace
}  // namespace splitplane::ue

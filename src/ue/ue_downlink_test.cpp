#include "ue/ue_downlink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "ue/ue_test_frames.h"

namespace splitplane::ue {
namespace {

using namespace test;

class UeDownlinkTest : public ::testing::Test {
 protected:
  UeDownlink::Received receive(const std::string& air, const std::string& pdu) {
    held_.push_back(frame(air, pdu));
    return downlink_.receive(held_.back());
  }
  UeOutcome outcome(const std::string& air, const std::string& pdu) { return receive(air, pdu).outcome; }
  UeBearer& the_bearer() { return *bearers_.find(BearerId{0x01020304}); }

  UeBearers bearers_;
  datapath::Arq arq_{{}};
  UeEndMarkers due_;
  UeDownlink downlink_{bearers_, arq_, due_};
  std::vector<HeapOctets> held_;  // received packets point into these frames
};

// airhdr without its length: version and kind 20; direction DL 80, mode, SN lengths, SDAP; reserved; bearer 0x01020304.
constexpr const char* kAm18Pdcp18Sdap = "20de 0000 01020304";
constexpr const char* kAm12Pdcp12Sdap = "20d2 0000 01020304";
constexpr const char* kUm12Pdcp12Sdap = "20b2 0000 01020304";
constexpr const char* kUm6Pdcp18 = "20ac 0000 01020304";
constexpr const char* kTmPdcp18 = "2084 0000 01020304";

TEST_F(UeDownlinkTest, am18_pdcp18_sdap_carries_the_packet_of_the_worked_examples) {
  bearers_.establish(bearer(RlcMode::kAm, 18, 18), {});
  const auto r = receive(kAm18Pdcp18Sdap, std::string("800000 800000 09") + kPacket);
  EXPECT_EQ(name_of(r.outcome), "ok");
  EXPECT_EQ(to_hex(r.packet), kPacket);
  EXPECT_EQ(r.bearer, &the_bearer());
  EXPECT_FALSE(r.status_due);
  EXPECT_EQ(the_bearer().downlink.received, 1U);
  EXPECT_EQ(the_bearer().downlink.bytes, 30U);
  EXPECT_EQ(the_bearer().rlc_rx.next(), 1U);
  EXPECT_EQ(the_bearer().pdcp_rx.next(), 1U);
}

TEST_F(UeDownlinkTest, every_mode_and_length_is_read) {
  bearers_.establish(bearer(RlcMode::kAm, 12, 12), {});
  EXPECT_EQ(to_hex(receive(kAm12Pdcp12Sdap, std::string("8000 8000 09") + kPacket).packet), kPacket);
  bearers_.establish(bearer(RlcMode::kUm, 12, 12), {});
  EXPECT_EQ(to_hex(receive(kUm12Pdcp12Sdap, std::string("00 8000 09") + kPacket).packet), kPacket);
  bearers_.establish(bearer(RlcMode::kUm, 6, 18, false), {});
  EXPECT_EQ(to_hex(receive(kUm6Pdcp18, std::string("00 800000") + kPacketV6).packet), tidy(kPacketV6));
  bearers_.establish(bearer(RlcMode::kTm, 0, 18, false), {});
  EXPECT_EQ(to_hex(receive(kTmPdcp18, std::string("800000") + kPacket).packet), kPacket);
}

TEST_F(UeDownlinkTest, a_poll_asks_for_a_status_even_when_its_pdu_is_a_duplicate) {
  bearers_.establish(bearer(RlcMode::kAm, 12, 12), {});
  EXPECT_TRUE(receive(kAm12Pdcp12Sdap, std::string("c000 8000 09") + kPacket).status_due);
  const auto again = receive(kAm12Pdcp12Sdap, std::string("c000 8001 09") + kPacket);
  EXPECT_EQ(name_of(again.outcome), "rlc_duplicate");
  EXPECT_TRUE(again.status_due);
  EXPECT_EQ(the_bearer().downlink.polls, 2U);
  EXPECT_EQ(the_bearer().downlink.rlc_duplicates, 1U);
  EXPECT_EQ(the_bearer().downlink.dropped, 1U);
}

TEST_F(UeDownlinkTest, sdap_says_what_differs_from_the_bearer) {
  bearers_.establish(bearer(RlcMode::kUm, 12, 12), {});
  EXPECT_EQ(outcome(kUm12Pdcp12Sdap, std::string("00 8000 89") + kPacket), UeOutcome::ok);  // RDI
  EXPECT_EQ(outcome(kUm12Pdcp12Sdap, std::string("00 8001 45") + kPacket), UeOutcome::ok);  // RQI, QFI 5
  EXPECT_EQ(the_bearer().downlink.reflective, 2U);
  EXPECT_EQ(the_bearer().downlink.other_qfi, 1U);
  EXPECT_EQ(the_bearer().downlink.other_destination, 2U);  // the example's packet goes to 8.8.8.8
}

TEST_F(UeDownlinkTest, both_numbers_wrap_without_a_gap) {
  bearers_.establish(bearer(RlcMode::kAm, 12, 12), {.pdcp_downlink = 4095, .rlc_downlink = 4095});
  EXPECT_EQ(outcome(kAm12Pdcp12Sdap, std::string("8fff 8fff 09") + kPacket), UeOutcome::ok);
  EXPECT_EQ(outcome(kAm12Pdcp12Sdap, std::string("8000 8000 09") + kPacket), UeOutcome::ok);
  EXPECT_EQ(the_bearer().rlc_rx.next(), 4097U);
  EXPECT_EQ(the_bearer().pdcp_rx.next(), 4097U);
  bearers_.establish(bearer(RlcMode::kAm, 18, 18), {.pdcp_downlink = 0x3ffff, .rlc_downlink = 0x3ffff});
  EXPECT_EQ(outcome(kAm18Pdcp18Sdap, std::string("83ffff 83ffff 09") + kPacket), UeOutcome::ok);
  EXPECT_EQ(outcome(kAm18Pdcp18Sdap, std::string("800000 800000 09") + kPacket), UeOutcome::ok);
  EXPECT_EQ(the_bearer().rlc_rx.next_sn(), 1U);
  EXPECT_EQ(the_bearer().rlc_rx.missing(), 0U);
  EXPECT_EQ(the_bearer().pdcp_rx.missing(), 0U);
}

TEST_F(UeDownlinkTest, gaps_late_ones_and_duplicates_are_counted_per_layer) {
  bearers_.establish(bearer(RlcMode::kAm, 18, 18), {});
  EXPECT_EQ(outcome(kAm18Pdcp18Sdap, std::string("800002 800003 09") + kPacket), UeOutcome::ok);
  EXPECT_EQ(the_bearer().rlc_rx.missing(), 2U);
  EXPECT_EQ(the_bearer().pdcp_rx.missing(), 3U);
  EXPECT_EQ(outcome(kAm18Pdcp18Sdap, std::string("800000 800001 09") + kPacket), UeOutcome::ok);
  EXPECT_EQ(the_bearer().downlink.rlc_late, 1U);
  EXPECT_EQ(the_bearer().downlink.pdcp_late, 1U);
  EXPECT_EQ(outcome(kAm18Pdcp18Sdap, std::string("800001 800001 09") + kPacket), UeOutcome::pdcp_duplicate);
  EXPECT_EQ(the_bearer().downlink.pdcp_duplicates, 1U);
  EXPECT_EQ(outcome(kAm18Pdcp18Sdap, std::string("83ff00 800004 09") + kPacket), UeOutcome::rlc_old);
  EXPECT_EQ(outcome(kAm18Pdcp18Sdap, std::string("800003 83ff00 09") + kPacket), UeOutcome::pdcp_old);
  EXPECT_EQ(the_bearer().downlink.received, 5U);
  EXPECT_EQ(the_bearer().downlink.dropped, 3U);
}

TEST_F(UeDownlinkTest, with_another_epoch_rlc_begins_anew_while_pdcp_goes_on) {
  const std::string anew = "20 de 00 01 01020304";
  bearers_.establish(bearer(RlcMode::kAm, 18, 18), {.pdcp_downlink = 0x3f000, .rlc_downlink = 0x10000});
  EXPECT_EQ(outcome(kAm18Pdcp18Sdap, std::string("810000 83f000 09") + kPacket), UeOutcome::ok);
  EXPECT_EQ(outcome(kAm18Pdcp18Sdap, std::string("800000 83f001 09") + kPacket), UeOutcome::rlc_old);
  EXPECT_EQ(outcome(anew.c_str(), std::string("800000 804fff 09") + kPacket), UeOutcome::ok);  // behind a lease
  EXPECT_EQ(outcome(anew.c_str(), std::string("800001 805000 09") + kPacket), UeOutcome::ok);
  EXPECT_EQ(the_bearer().downlink.rlc_restarts, 1U);
  EXPECT_EQ(the_bearer().rlc_rx.next(), 2U);
  EXPECT_EQ(the_bearer().pdcp_rx.next(), 0x45001U);
}

TEST_F(UeDownlinkTest, link_padding_behind_the_packet_is_cut_off) {
  bearers_.establish(bearer(RlcMode::kUm, 12, 12), {});
  for (const char* padding : {"", "00", "0000000000", "ffffff"}) {
    bearers_.establish(bearer(RlcMode::kUm, 12, 12), {});
    held_.push_back(frame(kUm12Pdcp12Sdap, std::string("00 8000 09") + kPacket, padding));
    EXPECT_EQ(to_hex(downlink_.receive(held_.back()).packet), kPacket);
    held_.push_back(frame(kUm12Pdcp12Sdap, "00 8001 09 45", padding));
    EXPECT_EQ(name_of(downlink_.receive(held_.back()).outcome), "ipv4_truncated");
  }
  bearers_.establish(bearer(RlcMode::kUm, 12, 12), {});
  EXPECT_EQ(to_hex(receive(kUm12Pdcp12Sdap, std::string("00 8000 09") + kPacket + "000000").packet), kPacket)
      << "behind the packet, within the PDU";
}

TEST_F(UeDownlinkTest, frames_that_are_not_for_a_bearer_say_why) {
  bearers_.establish(bearer(RlcMode::kAm, 18, 18), {});
  const auto why = [&](const std::string& hex) {
    return name_of(downlink_.receive(HeapOctets(from_hex(hex))).outcome);
  };
  const std::string pdu = std::string("0025 800000 800000 09") + kPacket;  // the length of the PDU first
  EXPECT_EQ(why("333300000016 020000000002 86dd 60000000"), "not_air_frame");
  EXPECT_EQ(why(std::string(kLink) + "10de 0000 01020304" + pdu), "airhdr_bad_version");
  EXPECT_EQ(why(std::string(kLink) + "21de 0000 01020304" + pdu), "airhdr_bad_kind");
  EXPECT_EQ(why(std::string(kLink) + "20fe 0000 01020304" + pdu), "airhdr_bad_rlc_mode");
  EXPECT_EQ(why(std::string(kLink) + "20c6 0000 01020304" + pdu), "airhdr_bad_sn_length");
  EXPECT_EQ(why(std::string(kLink) + "205e 0000 01020304" + pdu), "airhdr_wrong_direction");
  EXPECT_EQ(why(std::string(kLink) + "20de 0000 01020305" + pdu), "bearer_unknown");
  EXPECT_EQ(why(std::string(kLink) + "20de 0000 00000000" + pdu), "bearer_unknown");
  EXPECT_EQ(the_bearer().downlink.received, 0U);
  EXPECT_EQ(why(std::string(kLink) + "20d6 0000 01020304" + pdu), "airhdr_modes_wrong");  // RLC SN 12
  EXPECT_EQ(why(std::string(kLink) + "20da 0000 01020304" + pdu), "airhdr_modes_wrong");  // PDCP SN 12
  EXPECT_EQ(why(std::string(kLink) + "20dc 0000 01020304" + pdu), "airhdr_modes_wrong");  // no SDAP header
  EXPECT_EQ(why(std::string(kLink) + "20b6 0000 01020304" + pdu), "airhdr_modes_wrong");  // UM
  EXPECT_EQ(the_bearer().downlink.dropped, 4U);
  EXPECT_EQ(the_bearer().rlc_rx.next(), 0U);
  bearers_.release(BearerId{0x01020304});
  EXPECT_EQ(why(std::string(kLink) + "20de 0000 01020304" + pdu), "bearer_unknown");
}

TEST_F(UeDownlinkTest, pdus_that_header_mode_does_not_know_say_why) {
  bearers_.establish(bearer(RlcMode::kAm, 12, 12), {});
  const auto am = [&](const std::string& pdu) { return name_of(outcome(kAm12Pdcp12Sdap, pdu)); };
  EXPECT_EQ(am("9000 8000 09 45"), "rlc_segment");  // first
  EXPECT_EQ(am("b000 0014 aabb"), "rlc_segment");   // middle
  EXPECT_EQ(am("a000 0014 aabb"), "rlc_segment");   // last
  EXPECT_EQ(am("b000 0000 aabb"), "rlc_bad_segment_offset");
  EXPECT_EQ(am("000a00"), "rlc_control");       // R12: STATUS
  EXPECT_EQ(am("000a80 0070"), "rlc_control");  // R13
  EXPECT_EQ(am("000a80"), "rlc_status_truncated");
  EXPECT_EQ(am("100a00"), "rlc_control_type_unknown");
  EXPECT_EQ(the_bearer().rlc_rx.next(), 0U);
  EXPECT_EQ(am(std::string("8000 0000000005")), "pdcp_control");  // P1: status report
  EXPECT_EQ(am(std::string("8001 8000 09")), "pdu_too_short");
  EXPECT_EQ(am(std::string("8002 8001")), "sdap_truncated");
  EXPECT_EQ(am(std::string("8003 8002 09 0102")), "not_ip");
  EXPECT_EQ(am(std::string("8004 8003 09 45")), "ipv4_truncated");
  EXPECT_EQ(am(std::string("8005 8004 09 60")), "ipv6_truncated");
  const auto& counters = the_bearer().downlink;
  EXPECT_EQ(counters.received, 14U);
  EXPECT_EQ(counters.control, 2U);
  EXPECT_EQ(counters.dropped, 12U);
  EXPECT_EQ(the_bearer().rlc_rx.missing(), 0U);
  EXPECT_EQ(the_bearer().pdcp_rx.missing(), 0U);

  bearers_.establish(bearer(RlcMode::kUm, 12, 12), {});
  EXPECT_EQ(name_of(outcome(kUm12Pdcp12Sdap, "4abc aabb")), "rlc_segment");
  bearers_.establish(bearer(RlcMode::kUm, 6, 18, false), {});
  EXPECT_EQ(name_of(outcome(kUm6Pdcp18, "e1 0014 aabb")), "rlc_segment");
}

TEST_F(UeDownlinkTest, every_truncation_has_its_reason) {
  const HeapOctets octets = frame(kAm18Pdcp18Sdap, std::string("c00000 800000 09") + kPacket);
  const wire::Octets whole = octets;
  using enum UeOutcome;
  const auto expected = [](std::size_t bytes) {
    if (bytes < 14) return ethernet_truncated;
    if (bytes < 24) return airhdr_truncated;
    if (bytes < 27) return rlc_truncated;
    if (bytes == 27) return rlc_empty_data;
    if (bytes < 30) return pdcp_truncated;
    if (bytes == 30) return sdap_truncated;
    if (bytes == 31) return pdu_too_short;
    if (bytes < 31 + 20) return ipv4_truncated;
    return ipv4_bad_total_length;
  };
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    bearers_.establish(bearer(RlcMode::kAm, 18, 18), {});
    HeapOctets cut(whole.first(bytes));
    const UeOutcome of_frame = bytes < 24 ? expected(bytes) : airhdr_bad_length;
    EXPECT_EQ(name_of(downlink_.receive(cut).outcome), name_of(of_frame)) << bytes << " octets";
    if (bytes < 24) continue;
    wire::store_be16(cut.all().data() + 22, static_cast<std::uint32_t>(bytes - 24));
    EXPECT_EQ(name_of(downlink_.receive(cut).outcome), name_of(expected(bytes))) << bytes << " octets";
  }
}

TEST_F(UeDownlinkTest, whatever_arrives_is_delivered_dropped_or_control_and_lies_inside_the_frame) {
  rc::check([&] {
    bearers_.establish(bearer(RlcMode::kAm, 12, 12), {});
    the_bearer().downlink = {};
    std::uint64_t ok = 0;
    for (int i = 0; i < 20; ++i) {
      auto octets = from_hex(std::string(kLink) + kAm12Pdcp12Sdap + "0023 8000 8000 09" + kPacket);
      for (int flips = *rc::gen::inRange(0, 4); flips > 0; --flips) {
        octets[*rc::gen::inRange<std::size_t>(0, octets.size())] = *rc::gen::arbitrary<std::uint8_t>();
      }
      octets.resize(*rc::gen::inRange<std::size_t>(0, octets.size() + 1));
      if (octets.size() >= 24 && *rc::gen::arbitrary<bool>()) {
        wire::store_be16(octets.data() + 22, static_cast<std::uint32_t>(octets.size() - 24));
      }
      const HeapOctets frame{wire::Octets(octets)};
      const auto r = downlink_.receive(frame);
      if (r.outcome != UeOutcome::ok) continue;
      ++ok;
      const wire::Octets all = frame;
      RC_ASSERT(r.packet.data() >= all.data() && r.packet.data() + r.packet.size() <= all.data() + all.size());
    }
    const auto& c = the_bearer().downlink;
    RC_ASSERT(c.received == ok + c.dropped + c.control);
  });
}

}  // namespace
}  // namespace splitplane::ue

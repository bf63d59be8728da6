// Sessions with several bearers at the UE side, from the rules that the gNB tells to the frames on the air.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rte_cycles.h>

#include "ue/ue_downlink.h"
#include "ue/ue_sessions.h"
#include "ue/ue_test_frames.h"
#include "ue/ue_uplink.h"

namespace splitplane::ue {
namespace {

using namespace test;
using ran::sdap::DrbId;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint32_t kFirst = 0x01020304, kSecond = 0x01020305;

// DRB 1 is the default of QFI 9, DRB 2 carries QFI 5. Both are UM with 12 bits of PDCP.
class UeSessionTest : public ::testing::Test {
 protected:
  static ran::BearerConfig config(std::uint32_t id) {
    auto bearer = test::bearer(RlcMode::kUm, 12, 12);
    bearer.id = BearerId{id};
    return bearer;
  }
  static app::InSession place(std::uint8_t drb, std::vector<Qfi> flows, bool reflective = false) {
    return {.teid = Teid{kFirst},
            .spare = BearerId{kFirst + 9},
            .drb = DrbId{drb},
            .is_default = drb == 1,
            .reflective = reflective,
            .flows = std::move(flows)};
  }
  void establish(std::uint32_t id, const std::optional<app::InSession>& where) {
    bearers_.establish(config(id), {});
    sessions_.join(*bearers_.find(BearerId{id}), where);
  }
  void make(bool reflective = false) {
    establish(kFirst, place(1, {}));
    establish(kSecond, place(2, {Qfi{5}}, reflective));
  }
  void release(std::uint32_t id) {
    sessions_.leave(the(id));
    bearers_.release(BearerId{id});
  }
  UeBearer& the(std::uint32_t id) { return *bearers_.find(BearerId{id}); }
  // The headers before the UE's packet, as hex; on a refusal the outcome's name.
  std::string sent() {
    HeapOctets room(kMaxUplinkOverhead);
    const HeapOctets octets{from_hex(kPacket)};
    uplink_.begin_burst(true, rte_rdtsc());
    const auto framed = uplink_.frame(room.all(), octets);
    if (framed.outcome != UeOutcome::ok) return std::string(name_of(framed.outcome));
    return to_hex(wire::Octets(room).last(framed.overhead_bytes));
  }
  static std::string um(std::uint32_t id, const char* pdcp_and_sdap, std::size_t sdu_bytes = 30) {
    return tidy(fmt::format("{}2032 0000 {:08x} {:04x} 00 {}", kToGnb, id, 4 + sdu_bytes, pdcp_and_sdap));
  }
  // A downlink packet that `kPacket` answers, with that SDAP octet.
  UeOutcome receive(std::uint32_t id, std::uint16_t sn, std::uint8_t sdap) {
    std::string packet = tidy(kPacket);
    std::vector<std::uint8_t> ip = from_hex(packet);
    std::swap_ranges(ip.begin() + 12, ip.begin() + 16, ip.begin() + 16);
    std::swap_ranges(ip.begin() + 20, ip.begin() + 22, ip.begin() + 22);
    const std::string head = fmt::format("00 8{:03x} {:02x}", sn, sdap);
    std::string octets;
    for (const std::uint8_t o : ip) octets += fmt::format("{:02x}", o);
    const auto air = fmt::format("20b2 0000 {:08x}", id);
    const HeapOctets in = frame(air, head + octets);
    return downlink_.receive(in).outcome;
  }

  UeBearers bearers_;
  UeSessions sessions_{1'000'000'000'000};
  datapath::Arq arq_{{}};
  UeUplink uplink_{bearers_, kAir};
  UeDownlink downlink_{bearers_, arq_, sessions_.due};
};

TEST_F(UeSessionTest, packets_without_a_rule_of_nas_take_the_default_flow_and_its_bearer) {
  make();
  EXPECT_EQ(sent(), um(kFirst, "8000 89"));
  EXPECT_EQ(sent(), um(kFirst, "8001 89"));
  EXPECT_EQ(the(kFirst).uplink.received, 2U);
  EXPECT_EQ(the(kSecond).uplink.received, 0U);
  EXPECT_THAT(sessions_.due, IsEmpty()) << "a session that is set up has no end markers";
}

TEST_F(UeSessionTest, rqi_gives_the_answers_of_a_connection_the_flow_of_its_downlink) {
  make();
  EXPECT_EQ(receive(kSecond, 0, 0x45), UeOutcome::ok);  // RQI, QFI 5
  EXPECT_EQ(sent(), um(kSecond, "8000 85"));
  EXPECT_EQ(the(kSecond).downlink.reflective, 1U);
  EXPECT_THAT(sessions_.due, IsEmpty());
}

TEST_F(UeSessionTest, rdi_moves_the_flow_and_its_end_marker_goes_on_the_old_bearer) {
  make(true);
  EXPECT_EQ(receive(kSecond, 0, 0x45), UeOutcome::ok);  // RQI alone: the flow's bearer is the default one
  EXPECT_EQ(sent(), um(kFirst, "8000 85"));
  EXPECT_EQ(receive(kSecond, 1, 0xc5), UeOutcome::ok);
  EXPECT_EQ(receive(kSecond, 2, 0xc5), UeOutcome::ok) << "the rule is there already";
  ASSERT_THAT(sessions_.due, ElementsAre(UeEndMarker{BearerId{kFirst}, 0x05}));
  HeapOctets room(kMaxUplinkOverhead);
  const auto marker = uplink_.frame_end_marker(the(kFirst), room.all(), sessions_.due.front().octet);
  EXPECT_EQ(to_hex(wire::Octets(room).last(marker.overhead_bytes)), um(kFirst, "8001 05", 0));
  EXPECT_EQ(marker.packet_bytes, 0U);
  EXPECT_EQ(the(kFirst).uplink.received, 1U) << "an end marker is no packet";
  EXPECT_EQ(sent(), um(kSecond, "8000 85"));
}

TEST_F(UeSessionTest, a_flow_that_the_gnb_moves_ends_where_it_was) {
  make();
  EXPECT_EQ(receive(kSecond, 0, 0x45), UeOutcome::ok);
  EXPECT_EQ(sent(), um(kSecond, "8000 85"));
  // The gNB's list names the old bearer first.
  sessions_.follow(the(kSecond), place(2, {}));
  EXPECT_EQ(sent(), um(kSecond, "8001 85")) << "until the flow has another bearer";
  sessions_.follow(the(kFirst), place(1, {Qfi{5}}));
  EXPECT_THAT(sessions_.due, ElementsAre(UeEndMarker{BearerId{kSecond}, 0x05}));
  EXPECT_EQ(sent(), um(kFirst, "8000 85"));
  EXPECT_THAT(the(kFirst).session->place_of(the(kFirst)).flows, ElementsAre(Qfi{5}));
  EXPECT_THAT(the(kSecond).session->place_of(the(kSecond)).flows, IsEmpty());
}

TEST_F(UeSessionTest, a_bearer_without_headers_carries_its_only_flow) {
  establish(kFirst, place(1, {}));
  auto bare = config(kSecond);
  bare.sdap_header_ul = bare.sdap_header_dl = false;
  bare.qfi = Qfi{5};
  bearers_.establish(bare, {});
  sessions_.join(the(kSecond), place(2, {Qfi{5}}));
  EXPECT_EQ(receive(kFirst, 0, 0x45), UeOutcome::ok);
  EXPECT_EQ(sent(), tidy(std::string(kToGnb) + "2030 0000 01020305 0021 00 8000"));
  sessions_.follow(the(kFirst), place(1, {Qfi{5}}));
  EXPECT_THAT(sessions_.due, IsEmpty()) << "a bearer without header has no end markers";
}

TEST_F(UeSessionTest, a_session_without_its_default_bearer_drops) {
  make();
  release(kFirst);
  EXPECT_EQ(sent(), "sdap_no_bearer");
  EXPECT_EQ(sessions_.size(), 1U);
  establish(kFirst, place(1, {}));
  EXPECT_EQ(sent(), um(kFirst, "8000 89"));
  release(kFirst);
  release(kSecond);
  EXPECT_EQ(sessions_.size(), 0U);
  EXPECT_EQ(sent(), "source_unknown");
}

TEST_F(UeSessionTest, a_bearer_whose_drb_another_one_takes_is_in_no_session_any_more) {
  make();
  sessions_.join(the(kSecond), place(1, {}));
  EXPECT_EQ(the(kFirst).session, nullptr);
  release(kSecond);
  EXPECT_EQ(sessions_.size(), 0U);
  release(kFirst);
}

TEST_F(UeSessionTest, what_waits_to_be_sent_goes_with_its_bearer) {
  make(true);
  EXPECT_EQ(receive(kSecond, 0, 0x85), UeOutcome::ok);
  EXPECT_EQ(sessions_.due.size(), 1U);
  release(kFirst);
  EXPECT_THAT(sessions_.due, IsEmpty());
}

TEST_F(UeSessionTest, a_bearer_that_begins_anew_keeps_the_rules_of_the_others) {
  make();
  EXPECT_EQ(receive(kSecond, 0, 0x45), UeOutcome::ok);
  establish(kFirst, place(1, {}));
  EXPECT_EQ(sent(), um(kSecond, "8000 85"));
  establish(kSecond, std::nullopt);
  EXPECT_EQ(the(kSecond).session, nullptr);
  EXPECT_EQ(sent(), um(kFirst, "8000 85")) << "without a rule it takes the default bearer";
}

TEST_F(UeSessionTest, a_pdu_with_a_header_alone_is_too_short) {
  make();
  const HeapOctets in = frame("20b2 0000 01020305", "00 8000 45");
  EXPECT_EQ(downlink_.receive(in).outcome, UeOutcome::pdu_too_short);
  EXPECT_EQ(the(kSecond).downlink.dropped, 1U);
}

}  // namespace
}  // namespace splitplane::ue

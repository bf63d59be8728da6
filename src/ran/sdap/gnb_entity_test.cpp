#include "ran/sdap/gnb_entity.h"

#include <gtest/gtest.h>

#include <array>

#include "ran/sdap/ue_entity.h"

namespace splitplane::ran::sdap {
namespace {

// DRB 1 with both headers, 2 with flow 9 only, 3 without header and flow; DRB 1 is the default.
GnbEntity make_gnb() {
  GnbEntity gnb;
  EXPECT_TRUE(gnb.configure_drb(DrbId{1}, {.header_ul = true, .header_dl = true}));
  EXPECT_TRUE(gnb.configure_drb(DrbId{2}, {.qfi = Qfi{9}}));
  EXPECT_TRUE(gnb.configure_drb(DrbId{3}, {}));
  EXPECT_TRUE(gnb.set_default(DrbId{1}));
  return gnb;
}

TEST(GnbEntity, writes_rdi_and_rqi) {
  GnbEntity gnb = make_gnb();
  EXPECT_EQ(gnb.send(Qfi{9}, 2, false, false).header, 0x09);
  EXPECT_EQ(gnb.send(Qfi{9}, 2, true, false).header, 0x89);
  EXPECT_EQ(gnb.send(Qfi{9}, 2, false, true).header, 0x49);
  EXPECT_EQ(gnb.send(Qfi{9}, 2, true, true).header, 0xc9);
  EXPECT_EQ(gnb.counters().sent[9].sdus, 4U);
}

TEST(GnbEntity, sends_neither_on_a_drb_without_a_dl_header) {
  GnbEntity gnb = make_gnb();
  ASSERT_TRUE(gnb.configure_rule(Qfi{9}, DrbId{2}));
  const Sent sent = gnb.send(Qfi{9}, 2, true, true);
  EXPECT_EQ(sent.drb, DrbId{2});
  EXPECT_EQ(sent.header_bytes, 0);
}

TEST(GnbEntity, takes_the_qfi_from_the_header_or_the_only_flow) {
  GnbEntity gnb = make_gnb();
  const std::array<std::uint8_t, 3> pdu{0xc5, 0x69, 0x70};  // the R bit is ignored
  EXPECT_EQ(gnb.receive(DrbId{1}, pdu).qfi, Qfi{5});
  EXPECT_EQ(gnb.receive(DrbId{1}, pdu).header_bytes, 1);
  const ReceivedByGnb bare = gnb.receive(DrbId{2}, pdu);
  EXPECT_EQ(bare.qfi, Qfi{9});
  EXPECT_EQ(bare.header_bytes, 0);
  EXPECT_EQ(gnb.receive(DrbId{3}, pdu).drop, Drop::no_qfi);
  EXPECT_EQ(gnb.counters().received[5].octets, 4U);
  EXPECT_EQ(gnb.counters().received[9].octets, 3U);
}

TEST(GnbEntity, reports_an_end_marker_and_counts_no_sdu) {
  GnbEntity gnb = make_gnb();
  const std::array<std::uint8_t, 1> marker{0x05};
  const ReceivedByGnb got = gnb.receive(DrbId{1}, marker);
  EXPECT_EQ(got.drop, Drop::none);
  EXPECT_TRUE(got.is_end_marker);
  EXPECT_EQ(got.qfi, Qfi{5});
  EXPECT_EQ(gnb.counters().end_markers_received, 1U);
  EXPECT_EQ(gnb.counters().received[5].sdus, 0U);
}

TEST(GnbEntity, drops_what_is_no_pdu) {
  GnbEntity gnb = make_gnb();
  const std::array<std::uint8_t, 1> only_a_header{0x85};
  const std::array<std::uint8_t, 2> long_marker{0x05, 0x00};
  EXPECT_EQ(gnb.receive(DrbId{1}, {}).drop, Drop::malformed);
  EXPECT_EQ(gnb.receive(DrbId{2}, {}).drop, Drop::malformed);
  EXPECT_EQ(gnb.receive(DrbId{1}, only_a_header).drop, Drop::malformed);
  EXPECT_EQ(gnb.receive(DrbId{1}, long_marker).drop, Drop::malformed);
  EXPECT_EQ(gnb.receive(DrbId{4}, only_a_header).drop, Drop::unknown_drb);
  EXPECT_EQ(gnb.counters().dropped(Drop::malformed), 4U);
  EXPECT_EQ(gnb.counters().dropped(Drop::unknown_drb), 1U);
}

TEST(GnbEntity, drops_what_it_cannot_send) {
  GnbEntity gnb = make_gnb();
  EXPECT_EQ(gnb.send(Qfi{64}, 0, false, false).drop, Drop::bad_qfi);
  EXPECT_EQ(gnb.send(Qfi{1}, 0, false, false).drop, Drop::sdu_empty);
  gnb.release_drb(DrbId{1});
  EXPECT_EQ(gnb.send(Qfi{1}, 2, false, false).drop, Drop::no_drb);
}

TEST(GnbEntity, counts_rules_that_change) {
  GnbEntity gnb = make_gnb();
  EXPECT_TRUE(gnb.configure_rule(Qfi{9}, DrbId{2}));
  EXPECT_TRUE(gnb.configure_rule(Qfi{9}, DrbId{2}));
  EXPECT_FALSE(gnb.configure_rule(Qfi{9}, DrbId{8}));
  EXPECT_FALSE(gnb.configure_rule(Qfi{200}, DrbId{2}));
  EXPECT_EQ(gnb.counters().rules_changed, 1U);
}

// Both ends agree about each flow and each combination of headers, and a moved flow ends on its old DRB.
TEST(GnbEntity, understands_a_ue_for_each_flow_and_each_choice_of_headers) {
  for (const bool header_ul : {false, true}) {
    for (const bool header_dl : {false, true}) {
      for (std::uint8_t flow = 0; flow < kFlows; ++flow) {
        const Qfi qfi{flow};
        UeEntity ue;
        GnbEntity gnb;
        ASSERT_TRUE(ue.configure_drb(DrbId{1}, {.header_ul = true}) && ue.set_default(DrbId{1}));
        ASSERT_TRUE(gnb.configure_drb(DrbId{1}, {.header_ul = true}));
        const DrbConfig moved{.header_ul = header_ul, .header_dl = header_dl, .qfi = qfi};
        ASSERT_TRUE(ue.configure_drb(DrbId{7}, moved) && gnb.configure_drb(DrbId{7}, moved));
        ASSERT_TRUE(gnb.configure_rule(qfi, DrbId{7}));

        const Sent downlink = gnb.send(qfi, 2, true, true);
        std::array<std::uint8_t, 3> pdu{downlink.header, 0x45, 0x00};
        const auto octets = wire::Octets(pdu).subspan(1U - downlink.header_bytes);
        const ReceivedByUe at_ue = ue.receive(downlink.drb, octets);
        EXPECT_EQ(at_ue.drop, Drop::none);
        EXPECT_EQ(at_ue.has_qfi && at_ue.rqi && at_ue.qfi == qfi, header_dl);
        EXPECT_EQ(static_cast<bool>(at_ue.end_marker), header_dl);
        if (header_dl) {
          EXPECT_TRUE(gnb.receive(at_ue.end_marker.drb, {&at_ue.end_marker.octet, 1}).is_end_marker);
        }

        const Sent uplink = ue.send(qfi, 2);
        EXPECT_EQ(uplink.drb, DrbId{static_cast<std::uint8_t>(header_dl ? 7 : 1)});
        pdu[0] = uplink.header;
        const ReceivedByGnb at_gnb = gnb.receive(uplink.drb, wire::Octets(pdu).subspan(1U - uplink.header_bytes));
        EXPECT_EQ(at_gnb.drop, Drop::none);
        EXPECT_FALSE(at_gnb.is_end_marker);
        EXPECT_EQ(at_gnb.qfi, qfi);
      }
    }
  }
}

}  // namespace
}  // namespace splitplane::ran::sdap

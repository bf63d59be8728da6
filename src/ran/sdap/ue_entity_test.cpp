#include "ran/sdap/ue_entity.h"

#include <gtest/gtest.h>

#include <array>

namespace splitplane::ran::sdap {
namespace {

// DRB 1 and 2 with both headers, 3 with a DL header only, 4 with none; DRB 1 is the default.
UeEntity make_ue() {
  UeEntity ue;
  EXPECT_TRUE(ue.configure_drb(DrbId{1}, {.header_ul = true, .header_dl = true}));
  EXPECT_TRUE(ue.configure_drb(DrbId{2}, {.header_ul = true, .header_dl = true}));
  EXPECT_TRUE(ue.configure_drb(DrbId{3}, {.header_dl = true}));
  EXPECT_TRUE(ue.configure_drb(DrbId{4}, {.qfi = Qfi{9}}));
  EXPECT_TRUE(ue.set_default(DrbId{1}));
  return ue;
}

EndMarker configure(UeEntity& ue, std::uint8_t qfi, std::uint8_t drb) {
  EndMarker marker;
  EXPECT_TRUE(ue.configure_rule(Qfi{qfi}, DrbId{drb}, marker));
  return marker;
}

ReceivedByUe receive(UeEntity& ue, std::uint8_t drb, std::uint8_t header) {
  const std::array<std::uint8_t, 3> pdu{header, 0x69, 0x70};
  return ue.receive(DrbId{drb}, pdu);
}

TEST(UeEntity, sends_a_flow_without_a_rule_on_the_default_drb) {
  UeEntity ue = make_ue();
  const Sent sent = ue.send(Qfi{5}, 2);
  EXPECT_EQ(sent.drop, Drop::none);
  EXPECT_EQ(sent.drb, DrbId{1});
  EXPECT_EQ(sent.header_bytes, 1);
  EXPECT_EQ(sent.header, 0x85);
  EXPECT_EQ(ue.counters().sent[5].sdus, 1U);
  EXPECT_EQ(ue.counters().sent[5].octets, 2U);
}

TEST(UeEntity, sends_no_header_where_none_is_configured) {
  UeEntity ue = make_ue();
  configure(ue, 5, 3);
  EXPECT_EQ(ue.send(Qfi{5}, 2).header_bytes, 0);
}

TEST(UeEntity, drops_what_it_cannot_send_in_the_order_of_the_reasons) {
  UeEntity ue;
  EXPECT_EQ(ue.send(Qfi{64}, 0).drop, Drop::bad_qfi);
  EXPECT_EQ(ue.send(Qfi{255}, 2).drop, Drop::bad_qfi);
  EXPECT_EQ(ue.send(Qfi{63}, 0).drop, Drop::sdu_empty);
  const Sent nowhere = ue.send(Qfi{63}, 2);
  EXPECT_EQ(nowhere.drop, Drop::no_drb);
  EXPECT_EQ(nowhere.drb, DrbId{});
  EXPECT_EQ(ue.counters().dropped(Drop::bad_qfi), 2U);
  EXPECT_EQ(ue.counters().dropped(Drop::sdu_empty), 1U);
  EXPECT_EQ(ue.counters().dropped(Drop::no_drb), 1U);
  EXPECT_EQ(ue.counters().sent[63].sdus, 0U);
}

TEST(UeEntity, ends_a_flow_on_the_default_drb_when_it_gets_its_first_rule) {
  for (std::uint8_t drb = 1; drb <= 4; ++drb) {
    UeEntity ue = make_ue();
    const EndMarker marker = configure(ue, 5, drb);
    ASSERT_TRUE(marker);
    EXPECT_EQ(marker.drb, DrbId{1});
    EXPECT_EQ(marker.octet, 0x05);
    EXPECT_EQ(ue.send(Qfi{5}, 2).drb, DrbId{drb});
    EXPECT_EQ(ue.counters().end_markers_sent, 1U);
  }
}

TEST(UeEntity, ends_a_moved_flow_on_its_old_drb) {
  UeEntity ue = make_ue();
  configure(ue, 5, 2);
  EXPECT_EQ(configure(ue, 5, 4).drb, DrbId{2});
  EXPECT_FALSE(configure(ue, 5, 2));  // DRB 4 has no UL header
}

TEST(UeEntity, an_unchanged_rule_ends_nothing) {
  UeEntity ue = make_ue();
  configure(ue, 5, 2);
  EXPECT_FALSE(configure(ue, 5, 2));
  EXPECT_FALSE(receive(ue, 2, 0x85).end_marker);
  EXPECT_EQ(ue.counters().rules_changed, 1U);
}

TEST(UeEntity, rdi_maps_the_flow_and_rqi_is_reported) {
  UeEntity ue = make_ue();
  const ReceivedByUe got = receive(ue, 2, 0xc9);
  EXPECT_TRUE(got.has_qfi && got.rqi);
  EXPECT_EQ(got.qfi, Qfi{9});
  EXPECT_EQ(got.header_bytes, 1);
  EXPECT_EQ(got.end_marker.drb, DrbId{1});
  EXPECT_EQ(got.end_marker.octet, 0x09);
  EXPECT_EQ(ue.send(Qfi{9}, 2).drb, DrbId{2});
  EXPECT_EQ(ue.counters().received[9].octets, 2U);
}

TEST(UeEntity, without_rdi_no_rule_is_stored) {
  UeEntity ue = make_ue();
  EXPECT_FALSE(receive(ue, 2, 0x49).end_marker);
  EXPECT_EQ(ue.map().rule_of(Qfi{9}), DrbId{});
}

TEST(UeEntity, the_latest_rule_counts_configured_or_reflective) {
  UeEntity ue = make_ue();
  configure(ue, 9, 2);
  EXPECT_EQ(receive(ue, 1, 0x89).end_marker.drb, DrbId{2});
  EXPECT_EQ(ue.map().rule_of(Qfi{9}), DrbId{1});
  EXPECT_EQ(configure(ue, 9, 3).drb, DrbId{1});
  EXPECT_EQ(ue.map().rule_of(Qfi{9}), DrbId{3});
}

TEST(UeEntity, does_not_know_the_flow_without_a_dl_header) {
  UeEntity ue = make_ue();
  const ReceivedByUe got = receive(ue, 4, 0xc9);
  EXPECT_EQ(got.drop, Drop::none);
  EXPECT_FALSE(got.has_qfi || got.rqi || got.end_marker);
  EXPECT_EQ(got.header_bytes, 0);
  EXPECT_EQ(ue.counters().received_without_flow.octets, 3U);
}

TEST(UeEntity, drops_pdus_without_an_sdu_and_of_unknown_drbs) {
  UeEntity ue = make_ue();
  const std::array<std::uint8_t, 1> header{0x89};
  EXPECT_EQ(ue.receive(DrbId{1}, header).drop, Drop::malformed);  // and its RDI counts for nothing
  EXPECT_EQ(ue.map().rule_of(Qfi{9}), DrbId{});
  EXPECT_EQ(ue.receive(DrbId{4}, {}).drop, Drop::malformed);
  EXPECT_EQ(ue.receive(DrbId{5}, header).drop, Drop::unknown_drb);
  EXPECT_EQ(ue.receive(DrbId{0}, header).drop, Drop::unknown_drb);
  EXPECT_EQ(ue.receive(DrbId{33}, header).drop, Drop::unknown_drb);
}

TEST(UeEntity, refuses_rules_for_an_unknown_drb_or_flow) {
  UeEntity ue = make_ue();
  EndMarker marker{DrbId{1}, 5};
  EXPECT_FALSE(ue.configure_rule(Qfi{5}, DrbId{9}, marker));
  EXPECT_FALSE(marker);
  EXPECT_FALSE(ue.configure_rule(Qfi{64}, DrbId{1}, marker));
  EXPECT_FALSE(marker);
  EXPECT_EQ(ue.counters().rules_changed, 0U);
}

TEST(UeEntity, a_released_rule_or_drb_leaves_the_default_drb) {
  UeEntity ue = make_ue();
  configure(ue, 5, 2);
  configure(ue, 6, 3);
  ue.release_rule(Qfi{5});
  ue.release_drb(DrbId{3});
  EXPECT_EQ(ue.send(Qfi{5}, 2).drb, DrbId{1});
  EXPECT_EQ(ue.send(Qfi{6}, 2).drb, DrbId{1});
}

}  // namespace
}  // namespace splitplane::ran::sdap

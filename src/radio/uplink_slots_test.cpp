// The uplink of a cell over stepped slots, with MAC of the UE at its other end: what UEs send arrives once although the
// air loses grants, blocks and indications, and what a UE reports decides what it may send.
#include "radio/uplink_slots.h"

#include <gmock/gmock.h>

#include "radio/test_ues.h"

namespace splitplane::datapath::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

// A block of one control element, with padding behind it.
template <class Element>
Bytes block_of(const Element& element) {
  const wire::Octets octets = element.octets();
  Bytes block(octets.begin(), octets.end());
  block.push_back(wire::mac::kLcidPadding);
  block.resize(40);
  return block;
}

class UplinkOfModes : public testing::TestWithParam<RlcMode> {};

TEST_P(UplinkOfModes, each_sdu_arrives_once_although_the_air_loses_grants_blocks_and_indications) {
  CellSlots::Settings settings = TestCell::small();
  settings.uplink.harq.max_retransmissions = 20;  // UM repairs nothing
  TestCell s(3, settings, GetParam());
  std::array<std::vector<Bytes>, 3> sent;
  for (unsigned i = 0; i < 3000; ++i) {
    const std::uint32_t ue = static_cast<std::uint32_t>(s.random() % 3);
    const Bytes sdu = numbered(static_cast<std::uint32_t>(sent[ue].size()), 20 + s.random() % 900);
    if (i % 2 == 0 && s.ends[ue]->end.send(sdu)) sent[ue].push_back(sdu);
    s.run(10);
  }
  for (unsigned i = 0; i < 2000; ++i) s.run();
  for (std::uint32_t ue = 0; ue < 3; ++ue) {
    EXPECT_GT(sent[ue].size(), 300U);
    EXPECT_THAT(s.delivered[ue], UnorderedElementsAreArray(sent[ue]));
    EXPECT_EQ(s.ends[ue]->end.channel().held(), 0U);
  }
  EXPECT_GT(s.blocks_lost, 100U);
  const phy::HarqSenderCounters& harq = s.slots.uplink().harq_counters();
  EXPECT_GT(harq.no_feedback, 20U) << "indications got lost, too";
  EXPECT_GT(harq.retransmissions, s.blocks_lost / 2);
  EXPECT_GT(s.slots.uplink().counters().short_bsrs, 60U);
  EXPECT_GT(s.slots.uplink().counters().phrs, 0U);
  s.expect_account();
}
INSTANTIATE_TEST_SUITE_P(Modes, UplinkOfModes, testing::Values(RlcMode::kAm, RlcMode::kUm));

TEST(UplinkSlots, a_ue_without_downlink_data_may_ask_once_in_each_period_and_ues_share_its_slots) {
  TestCell s(8);
  std::map<phy::Rnti, unsigned> chances;
  std::set<std::uint64_t> slots_with;
  for (unsigned i = 0; i < 30; ++i) {
    const auto plan = s.plan();
    EXPECT_LE(plan.request_chances.size(), 1U) << "8 UEs in a period of 10 slots";
    for (const phy::Rnti rnti : plan.request_chances) ++chances[rnti];
  }
  EXPECT_EQ(chances.size(), 8U);
  for (const auto& [rnti, count] : chances) EXPECT_EQ(count, 3U) << rnti;
}

TEST(UplinkSlots, a_request_is_worth_a_grant_that_has_room_for_a_report) {
  TestCell s(1);
  EXPECT_THAT(s.plan().uplink, IsEmpty());
  s.request(s.ue(0));
  const auto plan = s.plan();
  ASSERT_EQ(plan.uplink.size(), 1U);
  const phy::Grant grant = plan.uplink[0];
  EXPECT_EQ(grant.direction, Direction::kUplink);
  EXPECT_EQ(grant.slot, phy::after(s.slot, 4));
  EXPECT_EQ(grant.slot, plan.uplink_slot);
  EXPECT_GE(grant.tb_bytes, phy::UplinkDemand::kRequestBytes);
  EXPECT_FALSE(grant.retransmission);
  EXPECT_THAT(s.plan().uplink, IsEmpty()) << "it asked once";
}

TEST(UplinkSlots, a_ue_with_a_pusch_has_no_chance_to_request_in_its_slot) {
  TestCell s(1);
  std::size_t puschs = 0, chances = 0;
  for (unsigned i = 0; i < 100; ++i) {
    s.request(s.ue(0));
    const auto plan = s.plan();
    puschs += plan.uplink.size();
    chances += plan.request_chances.size();
    for (const phy::Grant& grant : plan.uplink) {
      EXPECT_THAT(plan.request_chances, IsEmpty());
      (void)s.received(grant, true, Bytes(40, wire::mac::kLcidPadding));
    }
  }
  EXPECT_EQ(puschs, 100U);
  EXPECT_EQ(chances, 0U);
}

TEST(UplinkSlots, a_block_whose_crc_is_wrong_or_not_told_is_granted_again_in_the_same_process) {
  TestCell s(1);
  for (const bool told : {true, false}) {
    s.request(s.ue(0));
    const auto first = s.plan().uplink;
    ASSERT_EQ(first.size(), 1U);
    const phy::Grant grant = first[0];
    if (told) {
      EXPECT_EQ(s.received(grant, false, {}), UplinkReception::missing);
    }
    unsigned waited = 1;
    std::vector<phy::Grant> again;
    for (; again.empty() && waited < 100; ++waited) {
      const auto next = s.plan().uplink;
      again.assign(next.begin(), next.end());
    }
    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(waited, told ? 2U : 17U);
    EXPECT_TRUE(again[0].retransmission);
    EXPECT_EQ(again[0].process, grant.process);
    EXPECT_EQ(again[0].ndi, grant.ndi);
    EXPECT_EQ(again[0].tb_bytes, grant.tb_bytes);
    EXPECT_EQ(again[0].rv, 2);
    EXPECT_EQ(s.received(again[0], true, Bytes(40, wire::mac::kLcidPadding)), UplinkReception::delivered);
  }
  EXPECT_EQ(s.slots.uplink().harq_counters().no_feedback, 1U);
  s.expect_account();
}

TEST(UplinkSlots, a_block_that_comes_twice_is_taken_apart_once) {
  TestCell s(1);
  ASSERT_TRUE(s.ends[0]->end.send(numbered(5, 30)));
  s.request(s.ue(0));
  const phy::Grant grant = s.plan().uplink.front();
  const Bytes block = *s.ends[0]->transmit(grant);
  EXPECT_EQ(s.received(grant, true, block), UplinkReception::delivered);
  EXPECT_EQ(s.received(grant, true, block), UplinkReception::superfluous);
  phy::Grant other = grant;
  other.process = 9;
  EXPECT_EQ(s.received(other, true, block), UplinkReception::superfluous) << "nothing was granted there";
  other.process = 200;
  EXPECT_EQ(s.received(other, true, block), UplinkReception::superfluous);
  EXPECT_THAT(s.delivered[0], ElementsAre(numbered(5, 30)));
  s.expect_account();
}

// The PHY said nothing of the first transmission in time, so the UE has a second grant when the first block comes.
TEST(UplinkSlots, an_indication_that_comes_late_counts_and_the_repetition_does_not) {
  TestCell s(1);
  ASSERT_TRUE(s.ends[0]->end.send(numbered(5, 30)));
  s.request(s.ue(0));
  const phy::Grant grant = s.plan().uplink.front();
  const Bytes block = *s.ends[0]->transmit(grant);
  std::vector<phy::Grant> again;
  for (unsigned i = 0; again.empty() && i < 100; ++i) {
    const auto next = s.plan().uplink;
    again.assign(next.begin(), next.end());
  }
  ASSERT_FALSE(again.empty());
  EXPECT_EQ(s.received(grant, true, block), UplinkReception::delivered);
  EXPECT_EQ(s.received(again[0], true, block), UplinkReception::superfluous);
  EXPECT_EQ(s.slots.uplink().harq_counters().counted(phy::Feedback::late), 1U);
  EXPECT_EQ(s.delivered[0].size(), 1U);
  s.expect_account();
}

TEST(UplinkSlots, reports_of_all_kinds_are_demand_and_other_elements_are_counted) {
  using wire::mac::LongBsr;
  using wire::mac::ShortBsr;
  TestCell s(1);
  const auto demand_after = [&](const Bytes& block) {
    s.request(s.ue(0));
    const auto grants = s.plan().uplink;
    EXPECT_EQ(grants.size(), 1U);
    EXPECT_EQ(s.received(grants.front(), true, block), UplinkReception::delivered);
    return s.slots.uplink().demand(*s.ue(0))->bytes();
  };
  using Ce = ran::mac::ControlElement;
  constexpr std::uint32_t kHeaders = phy::UplinkDemand::kHeaderBytes;
  EXPECT_EQ(demand_after(block_of(Ce::of(ShortBsr{.lcg = 0, .size = 9}))), 142 + kHeaders);
  EXPECT_EQ(demand_after(block_of(Ce::of(ShortBsr{.lcg = 1, .size = 1}, true))), 152 + kHeaders) << "truncated";
  LongBsr bsr{.present = 1 << 3};
  bsr.size[3] = 1;
  EXPECT_EQ(demand_after(block_of(Ce::of(bsr))), 10 + kHeaders);
  EXPECT_EQ(demand_after(block_of(Ce::of(wire::mac::LongTruncatedBsr{.with_data = 1 << 3, .sizes = {}}))),
            10 + kHeaders);
  EXPECT_EQ(demand_after(block_of(Ce::of(ShortBsr{.lcg = 0, .size = 0}))), 0U);
  EXPECT_EQ(demand_after(block_of(Ce::of(wire::mac::SinglePhr{.power_headroom = 1, .pcmax = 2}))), 0U);
  EXPECT_EQ(demand_after(block_of(Ce::of(wire::mac::Crnti{.rnti = 7}))), 0U);
  const Bytes confirmed{wire::mac::ul::kConfiguredGrantConfirm, wire::mac::kLcidPadding};
  EXPECT_EQ(demand_after(confirmed), 0U);
  const Bytes malformed{wire::mac::ul::kLongBsr, 2, 0xFF, 1, wire::mac::kLcidPadding};  // eight sizes are missing
  EXPECT_EQ(demand_after(malformed), 0U);
  const UplinkSlots::Counters& counted = s.slots.uplink().counters();
  EXPECT_EQ(counted.short_bsrs, 2U);
  EXPECT_EQ(counted.long_bsrs, 1U);
  EXPECT_EQ(counted.truncated_bsrs, 2U);
  EXPECT_EQ(counted.phrs, 1U);
  EXPECT_EQ(counted.crntis, 1U);
  EXPECT_EQ(counted.other_elements, 1U);
  EXPECT_EQ(s.ue(0)->demux.of(ran::mac::MacDrop::bad_element), 1U);
  s.expect_account();
}

TEST(UplinkSlots, a_report_in_a_repeated_block_is_as_old_as_the_block) {
  TestCell s(1);
  const auto grant_now = [&] {
    s.request(s.ue(0));
    const auto grants = s.plan().uplink;
    EXPECT_EQ(grants.size(), 1U);
    return grants.front();
  };
  using Ce = ran::mac::ControlElement;
  const phy::Grant old = grant_now(), young = grant_now();
  EXPECT_EQ(s.received(old, false, {}), UplinkReception::missing);
  EXPECT_EQ(s.received(young, true, block_of(Ce::of(wire::mac::ShortBsr{.lcg = 0, .size = 0}))),
            UplinkReception::delivered);
  const auto again = s.plan().uplink;
  ASSERT_EQ(again.size(), 1U);
  ASSERT_EQ(again[0].process, old.process);
  EXPECT_EQ(s.received(again[0], true, block_of(Ce::of(wire::mac::ShortBsr{.lcg = 0, .size = 20}))),
            UplinkReception::delivered);
  EXPECT_EQ(s.slots.uplink().demand(*s.ue(0))->bytes(), 0U);
  EXPECT_EQ(s.slots.uplink().counters().stale_bsrs, 1U);
}

// A lost report would otherwise be missed until the UE's timer for it is over.
TEST(UplinkSlots, a_ue_whose_block_was_given_up_may_tell_again_until_it_counts_as_silent) {
  TestCell s(1);
  s.request(s.ue(0));
  std::uint64_t new_blocks = 0, sent_again = 0;
  for (unsigned i = 0; i < 500; ++i) {
    for (const phy::Grant& grant : s.plan().uplink) {
      ++(grant.retransmission ? sent_again : new_blocks);
      EXPECT_EQ(s.received(grant, false, {}), UplinkReception::missing);
    }
  }
  EXPECT_EQ(new_blocks, 4U);
  EXPECT_EQ(sent_again, 4U * 4);
  EXPECT_EQ(s.slots.uplink().counters().silent, 1U);
  s.request(s.ue(0));
  EXPECT_EQ(s.plan().uplink.size(), 1U) << "it speaks again";
  s.expect_account();
}

TEST(UplinkSlots, a_ue_that_leaves_takes_its_grants_along_and_the_one_that_waits_gets_its_place) {
  CellSlots::Settings settings = TestCell::small();
  settings.uplink.most_ues = 1;
  TestCell s(2, settings);
  (void)s.plan();
  EXPECT_EQ(s.slots.uplink().no_place(), 1U);
  const unsigned with = s.slots.uplink().harq(*s.ue(0)) != nullptr ? 0 : 1, without = 1 - with;
  s.request(s.ue(without));
  EXPECT_THAT(s.plan().uplink, IsEmpty()) << "it has no place";
  s.request(s.ue(with));
  const phy::Grant grant = s.plan().uplink.front();
  s.release(with);
  EXPECT_EQ(s.received(grant, true, Bytes(40)), UplinkReception::no_ue);
  EXPECT_EQ(s.slots.counters().blocks_of_no_ue, 1U);
  ASSERT_NE(s.slots.uplink().harq(*s.ue(without)), nullptr);
  EXPECT_FALSE(s.slots.uplink().harq(*s.ue(without))->active());
  s.request(s.ue(without));
  const auto next = s.plan().uplink;
  ASSERT_EQ(next.size(), 1U);
  EXPECT_EQ(next[0].rnti, s.ue(without)->rnti.value().value);
  EXPECT_EQ(s.slots.uplink().harq_counters().discarded, 1U);
  s.expect_account();
}

TEST(UplinkSlots, more_ues_than_places_take_turns_in_both_directions_and_nothing_is_lost) {
  CellSlots::Settings settings = TestCell::small();
  settings.downlink.most_ues = settings.uplink.most_ues = 2;
  settings.uplink.request_period_slots = 2;
  settings.downlink.harq.max_retransmissions = settings.uplink.harq.max_retransmissions = 20;  // UM repairs nothing
  TestCell s(7, settings, RlcMode::kUm);
  std::array<std::vector<Bytes>, 7> up, down;
  for (unsigned i = 0; i < 4000; ++i) {
    const std::uint32_t ue = static_cast<std::uint32_t>(s.random() % 7);
    const Bytes sdu = numbered(i, 20 + s.random() % 300);
    if (i % 40 == 0 && s.ends[ue]->end.send(sdu)) up[ue].push_back(sdu);
    if (i % 40 == 20 && s.send(ue, sdu)) down[ue].push_back(sdu);
    s.run(5);
  }
  for (unsigned i = 0; i < 4000; ++i) s.run();
  for (std::uint32_t ue = 0; ue < 7; ++ue) {
    EXPECT_GT(std::min(up[ue].size(), down[ue].size()), 5U);
    EXPECT_THAT(s.delivered[ue], UnorderedElementsAreArray(up[ue])) << ue;
    EXPECT_THAT(s.ends[ue]->end.delivered, UnorderedElementsAreArray(down[ue])) << ue;
  }
  EXPECT_GT(s.slots.uplink().no_place(), 7U);
  EXPECT_GT(s.slots.downlink().no_place(), 7U);
  s.expect_account();
}

TEST(UplinkSlots, ues_that_always_have_data_or_ask_and_send_nothing_give_their_place_to_others_after_a_while) {
  CellSlots::Settings settings = TestCell::small();
  settings.downlink.most_ues = settings.uplink.most_ues = 2;
  settings.uplink.request_period_slots = 2;
  TestCell s(4, settings);
  std::map<phy::Rnti, unsigned> uplink, downlink;
  for (unsigned i = 0; i < 6000; ++i) {
    for (std::uint32_t ue = 0; ue < 4; ++ue) (void)s.send(ue, numbered(i, 1000));
    const auto plan = s.plan();
    for (const phy::Grant& grant : plan.uplink) ++uplink[grant.rnti];  // no PUSCH ever comes
    for (const auto& [grant, block] : plan.downlink) {
      ++downlink[grant.rnti];
      s.slots.feedback(s.cell, Rnti{grant.rnti}, grant.slot, true);
    }
    for (const phy::Rnti rnti : plan.request_chances) s.request(rnti);
  }
  EXPECT_EQ(uplink.size(), 4U);
  EXPECT_EQ(downlink.size(), 4U);
}

TEST(UplinkSlots, a_block_of_another_size_than_its_grant_is_none) {
  TestCell s(1);
  s.request(s.ue(0));
  const phy::Grant grant = s.plan().uplink.front();
  const Bytes block(grant.tb_bytes + 1, wire::mac::kLcidPadding);
  const auto pdu = [](LogicalChannel&, rte_mbuf*) {};
  EXPECT_EQ(s.slots.received(s.cell, Rnti{grant.rnti}, grant.process, grant.slot, true, block, pdu),
            UplinkReception::missing);
  ++s.indications;
  s.expect_account();
}

}  // namespace
}  // namespace splitplane::datapath::test

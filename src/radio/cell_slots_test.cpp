// Both directions of a cell over stepped slots: what its PHY says reaches the right process of the right UE, or is
// counted and harmless.
#include "radio/cell_slots.h"

#include <gmock/gmock.h>

#include "radio/test_ues.h"

namespace splitplane::datapath::test {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

TEST(CellSlots, sdus_of_both_directions_and_their_status_cross_an_air_that_loses) {
  TestCell s(4);
  std::array<std::vector<Bytes>, 4> up, down;
  for (unsigned i = 0; i < 2000; ++i) {
    const std::uint32_t ue = static_cast<std::uint32_t>(s.random() % 4);
    auto& sent = i % 3 == 0 ? up[ue] : down[ue];
    const Bytes sdu = numbered(static_cast<std::uint32_t>(sent.size()), 20 + s.random() % 700);
    if (i % 3 == 0 ? s.ends[ue]->end.send(sdu) : i % 3 == 1 && s.send(ue, sdu)) sent.push_back(sdu);
    s.run(8);
  }
  for (unsigned i = 0; i < 3000; ++i) s.run();
  for (std::uint32_t ue = 0; ue < 4; ++ue) {
    EXPECT_GT(up[ue].size(), 100U);
    EXPECT_GT(down[ue].size(), 100U);
    EXPECT_THAT(s.delivered[ue], UnorderedElementsAreArray(up[ue]));
    EXPECT_THAT(s.ends[ue]->end.delivered, UnorderedElementsAreArray(down[ue]));
  }
  EXPECT_EQ(s.cell.held(), 0U);
  const phy::HarqSenderCounters& harq = s.slots.downlink().harq_counters();
  EXPECT_EQ(harq.blocks, harq.counted(phy::Feedback::acked) + harq.counted(phy::Feedback::late) +
                             harq.counted(phy::Feedback::given_up) + harq.discarded);
  EXPECT_GT(harq.retransmissions, 100U);
  EXPECT_EQ(harq.counted(phy::Feedback::no_process), 0U) << "each HARQ-ACK found its process by slot";
  s.expect_account();
}

TEST(CellSlots, a_harq_ack_finds_its_process_by_its_slot) {
  TestCell s(1);
  std::vector<phy::Grant> sent;
  for (std::uint32_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(s.send(0, numbered(i, 100)));
    for (const auto& [grant, block] : s.plan().downlink) sent.push_back(grant);
  }
  ASSERT_EQ(sent.size(), 3U);
  const Rnti rnti = s.ue(0)->rnti.value();
  s.slots.feedback(s.cell, rnti, sent[1].slot, true);
  const auto& harq = *s.slots.downlink().harq(*s.ue(0));
  EXPECT_FALSE(harq.busy(sent[1].process));
  EXPECT_TRUE(harq.busy(sent[0].process) && harq.busy(sent[2].process));
  s.slots.feedback(s.cell, rnti, sent[2].slot, false);
  EXPECT_TRUE(harq.waits(sent[2].process));
  const auto again = s.plan().downlink;
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].grant.process, sent[2].process);
  s.slots.feedback(s.cell, rnti, sent[2].slot, true);  // of the first transmission, which was answered before
  EXPECT_TRUE(harq.busy(sent[2].process));
  s.slots.feedback(s.cell, rnti, again[0].grant.slot, true);
  EXPECT_FALSE(harq.busy(sent[2].process));
}

TEST(CellSlots, harq_acks_that_come_twice_or_out_of_nowhere_or_for_no_ue_are_counted_and_change_nothing) {
  TestCell s(2);
  ASSERT_TRUE(s.send(0, numbered(1, 100)));
  const phy::Grant grant = s.plan().downlink[0].grant;
  const Rnti rnti = s.ue(0)->rnti.value();
  s.slots.feedback(s.cell, rnti, phy::after(grant.slot, -1), true);  // it had nothing there
  const auto& harq = *s.slots.downlink().harq(*s.ue(0));
  EXPECT_TRUE(harq.busy(grant.process));
  s.slots.feedback(s.cell, rnti, grant.slot, true);
  s.slots.feedback(s.cell, rnti, grant.slot, true);
  s.slots.feedback(s.cell, s.ue(1)->rnti.value(), grant.slot, true);  // it never had data
  s.slots.feedback(s.cell, Rnti{1234}, grant.slot, true);
  s.slots.feedback(s.cell, Rnti{0xffff}, grant.slot, true);
  s.request(1234);
  const phy::HarqSenderCounters& counted = s.slots.downlink().harq_counters();
  EXPECT_EQ(counted.counted(phy::Feedback::acked), 1U);
  EXPECT_EQ(counted.counted(phy::Feedback::duplicate), 1U);
  EXPECT_EQ(counted.counted(phy::Feedback::no_process), 1U);
  EXPECT_EQ(s.slots.downlink().counters().feedback_without_place, 1U);
  EXPECT_EQ(s.slots.counters().feedback_of_no_ue, 2U);
  EXPECT_EQ(s.slots.counters().requests_of_no_ue, 1U);
  s.release(0);
  s.slots.feedback(s.cell, rnti, grant.slot, true);
  EXPECT_EQ(s.slots.counters().feedback_of_no_ue, 3U);
}

TEST(CellSlots, a_reestablished_ue_has_another_c_rnti_and_nothing_of_before_reaches_it) {
  TestCell s(2);
  ASSERT_TRUE(s.send(0, numbered(1, 100)) && s.send(1, numbered(2, 100)));
  for (std::uint32_t i = 0; i < 2; ++i) s.request(s.ue(i));
  const auto before = s.plan();
  ASSERT_EQ(before.downlink.size(), 2U);
  ASSERT_EQ(before.uplink.size(), 2U);
  const std::vector<phy::Grant> granted(before.uplink.begin(), before.uplink.end());
  const Rnti old = s.ue(0)->rnti.value();
  const phy::Grant of_old = granted[0].rnti == old.value ? granted[0] : granted[1];
  s.request(old.value);
  s.reestablish(0);
  const Rnti rnti = s.ue(0)->rnti.value();
  EXPECT_NE(rnti, old);
  EXPECT_EQ(s.cell.find(old), nullptr);
  EXPECT_EQ(s.cell.find(rnti), s.ue(0));
  EXPECT_EQ(s.received(of_old, true, Bytes(40)), UplinkReception::no_ue);
  s.slots.feedback(s.cell, old, before.slot, true);
  EXPECT_EQ(s.slots.counters().feedback_of_no_ue, 1U);

  ASSERT_TRUE(s.send(0, numbered(3, 100)));
  const auto after = s.plan();
  ASSERT_EQ(after.downlink.size(), 1U);
  EXPECT_EQ(after.downlink[0].grant.rnti, rnti.value);
  EXPECT_FALSE(after.downlink[0].grant.retransmission);
  EXPECT_THAT(after.uplink, IsEmpty()) << "what it asked for before is forgotten";
  EXPECT_EQ(s.slots.downlink().harq_counters().discarded, 1U);
  EXPECT_EQ(s.slots.uplink().harq_counters().discarded, 1U);
  EXPECT_TRUE(s.slots.uplink().harq(*s.ue(1))->active()) << "the other UE goes on";
  s.ends[0]->reestablish();
  EXPECT_TRUE(s.ends[0]->receive(after.downlink[0].grant, after.downlink[0].block, true));
  EXPECT_EQ(s.ends[0]->end.delivered, std::vector<Bytes>{numbered(3, 100)});
  bool has_chance = false;
  for (unsigned i = 0; i < 10; ++i) {
    for (const phy::Rnti chance : s.plan().request_chances) {
      EXPECT_NE(chance, old.value);
      has_chance |= chance == rnti.value;
    }
  }
  EXPECT_TRUE(has_chance);
}

TEST(CellSlots, sdus_cross_again_after_a_reestablishment_in_the_middle_of_everything) {
  TestCell s(2);
  std::uint32_t number = 0;
  for (unsigned i = 0; i < 600; ++i) {
    if (i % 2 == 0)
      (void)(s.send(i / 2 % 2, numbered(number++, 300)) && s.ends[i / 2 % 2]->end.send(numbered(number++, 300)));
    if (i == 300) {
      s.reestablish(0);
      s.ends[0]->reestablish();
    }
    s.run(10);
  }
  for (unsigned i = 0; i < 2000; ++i) s.run();
  s.delivered[0].clear();
  s.ends[0]->end.delivered.clear();
  ASSERT_TRUE(s.send(0, numbered(1, 300)) && s.ends[0]->end.send(numbered(2, 300)));
  for (unsigned i = 0; i < 100; ++i) s.run();
  EXPECT_EQ(s.ends[0]->end.delivered, std::vector<Bytes>{numbered(1, 300)});
  EXPECT_EQ(s.delivered[0], std::vector<Bytes>{numbered(2, 300)});
  EXPECT_EQ(s.cell.held(), 0U);
  s.expect_account();
}

TEST(CellSlots, after_a_reset_nothing_is_in_the_air_and_rlc_goes_on) {
  TestCell s(1);
  ASSERT_TRUE(s.send(0, numbered(1, 100)));
  s.request(s.ue(0));
  const auto before = s.plan();
  ASSERT_TRUE(before.downlink.size() == 1 && before.uplink.size() == 1);
  const phy::Grant down = before.downlink[0].grant, up = before.uplink[0];
  s.request(s.ue(0));
  s.slots.reset();
  EXPECT_FALSE(s.slots.downlink().harq(*s.ue(0))->active());
  EXPECT_FALSE(s.slots.uplink().harq(*s.ue(0))->active());
  EXPECT_EQ(s.slots.uplink().demand(*s.ue(0))->bytes(), 0U);
  s.slots.feedback(s.cell, Rnti{down.rnti}, down.slot, false);
  EXPECT_EQ(s.received(up, true, Bytes(40)), UplinkReception::superfluous);
  const auto after = s.plan();
  EXPECT_THAT(after.downlink, IsEmpty());
  EXPECT_THAT(after.uplink, IsEmpty());
  for (unsigned i = 0; i < 500; ++i) s.run();  // RLC sends what the reset dropped again
  EXPECT_EQ(s.ends[0]->end.delivered, std::vector<Bytes>{numbered(1, 100)});
}

TEST(CellSlots, a_slot_that_is_not_after_the_last_one_is_as_a_reset_and_numbers_go_on) {
  TestCell s(1);
  ASSERT_TRUE(s.send(0, numbered(1, 100)));
  const auto before = s.plan();
  ASSERT_EQ(before.downlink.size(), 1U);
  const std::uint64_t number = before.number;
  const phy::Slot slot = before.slot;
  const auto again = s.slots.run(s.cell, slot, s.now, number);
  EXPECT_EQ(again.number, number + 1);
  EXPECT_EQ(s.slots.counters().time_jumps, 1U);
  EXPECT_EQ(s.slots.downlink().harq_counters().discarded, 1U);
  EXPECT_EQ(s.slots.run(s.cell, phy::after(slot, 7), s.now, number).number, number + 8) << "six slots passed unseen";
  EXPECT_EQ(s.slots.counters().time_jumps, 1U);
}

// HARQ is done with a block as soon as its feedback is there, or its UE is gone; the PHY thread may be behind.
TEST(CellSlots, a_block_keeps_its_octets_until_the_phy_has_read_its_plan) {
  CellSlots::Settings settings = TestCell::small();
  settings.downlink.most_blocks = 4;
  TestCell s(2, settings);
  std::vector<std::pair<DownlinkSlots::Sent, Bytes>> sent;
  const auto run = [&](std::uint64_t read) {
    s.slot = phy::after(s.slot, 1);
    const auto plan = s.slots.run(s.cell, s.slot, s.now, read);
    s.number = plan.number;
    for (const auto& one : plan.downlink) sent.emplace_back(one, Bytes(one.block.begin(), one.block.end()));
  };
  const auto expect_unchanged = [&] {
    for (const auto& [one, octets] : sent) EXPECT_EQ(Bytes(one.block.begin(), one.block.end()), octets);
  };
  ASSERT_TRUE(s.send(0, numbered(1, 500)) && s.send(1, numbered(2, 500)));
  run(0);
  ASSERT_EQ(sent.size(), 2U);
  s.slots.feedback(s.cell, Rnti{sent[0].first.grant.rnti}, sent[0].first.grant.slot, true);
  s.release(*s.who(sent[1].first.grant.rnti));
  const unsigned left = s.ue(0) != nullptr ? 0 : 1;
  EXPECT_EQ(s.slots.downlink().blocks_free(), 2U);
  const std::uint64_t first = s.number;
  for (std::uint32_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(s.send(left, numbered(10 + i, 500)));
    run(0);
    expect_unchanged();
  }
  EXPECT_EQ(sent.size(), 4U) << "two more: the memory is used up";
  EXPECT_EQ(s.slots.downlink().counters().no_block, 2U);
  s.slots.reset();
  run(first);
  EXPECT_EQ(sent.size(), 5U) << "the blocks of the first plan are free";
  EXPECT_EQ(s.slots.downlink().blocks_free(), 1U);
  run(s.number);
  EXPECT_EQ(s.slots.downlink().blocks_free(), 3U);
}

}  // namespace
}  // namespace splitplane::datapath::test

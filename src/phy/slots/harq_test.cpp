// HARQ of both ends: each alone, and together over an air that loses TBs and feedback.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "base/random.h"
#include "phy/slots/harq_cell.h"
#include "phy/slots/harq_receiver.h"
#include "phy/slots/harq_uplink.h"

namespace splitplane::phy {
namespace {

using Block = std::unique_ptr<int>;  // one owner, and a leak or a double release is seen

constexpr Numerology kNumerology{1};
Slot slot(std::uint64_t number) {
  return slot_at(kNumerology, number);
}

class HarqSenderTest : public testing::Test {
 protected:
  Grant start(int value, std::uint64_t in, std::uint32_t bytes = 100) {
    Grant grant{.slot = slot(in), .process = sender_.free_process(), .mcs = 7, .prbs = 20, .tb_bytes = bytes};
    grant.ndi = sender_.next_ndi(grant.process);
    sender_.start(grant, std::make_unique<int>(value));
    return grant;
  }
  auto release() {
    return [this](const Block& block) { released_.push_back(*block); };
  }
  Feedback feedback(std::uint8_t process, std::uint64_t in, bool ack) {
    return sender_.feedback(process, slot(in), ack, release());
  }
  HarqSender<Block> sender_{{.processes = 4, .max_retransmissions = 3, .feedback_slots = 10}};
  std::vector<int> released_;
};

TEST_F(HarqSenderTest, a_block_lives_until_its_ack) {
  const Grant grant = start(7, 1);
  EXPECT_EQ(*sender_.block(grant.process), 7);
  EXPECT_EQ(feedback(grant.process, 1, true), Feedback::acked);
  EXPECT_EQ(released_, std::vector{7});
  EXPECT_FALSE(sender_.busy(grant.process));
}

TEST_F(HarqSenderTest, a_nack_sends_it_again_unchanged_with_the_next_redundancy_version) {
  const Grant grant = start(7, 1, 1234);
  const int* const octets = sender_.block(grant.process).get();
  std::uint64_t sent = 1;
  for (const std::uint8_t rv : std::initializer_list<std::uint8_t>{2, 3, 1}) {
    EXPECT_EQ(feedback(grant.process, sent, false), Feedback::nacked);
    EXPECT_TRUE(sender_.waits(grant.process));
    const Retransmission again = sender_.waiting(grant.process, 5);
    EXPECT_EQ(again.rv, rv);
    EXPECT_EQ(again.ndi, grant.ndi);
    EXPECT_EQ(again.tb_bytes, 1234U);
    EXPECT_EQ(again.prbs, 20);
    EXPECT_EQ(again.mcs, 7);
    EXPECT_EQ(again.ue, 5);
    sent += 8;
    sender_.retransmit(grant.process, slot(sent));
    EXPECT_EQ(sender_.block(grant.process).get(), octets);
  }
  EXPECT_TRUE(released_.empty());
  EXPECT_EQ(feedback(grant.process, sent, true), Feedback::acked);
  EXPECT_EQ(sender_.counters().retransmissions, 3U);
}

TEST_F(HarqSenderTest, after_the_last_retransmission_a_nack_gives_it_up) {
  const Grant grant = start(9, 0);
  for (std::uint64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(feedback(grant.process, i, false), Feedback::nacked);
    sender_.retransmit(grant.process, slot(i + 1));
  }
  EXPECT_EQ(feedback(grant.process, 3, false), Feedback::given_up);
  EXPECT_EQ(released_, std::vector{9});
  EXPECT_EQ(sender_.counters().counted(Feedback::given_up), 1U);
  EXPECT_EQ(sender_.free_process(), grant.process);
}

TEST_F(HarqSenderTest, the_ndi_toggles_with_each_new_block_of_a_process_only) {
  const Grant first = start(1, 0), other = start(2, 1);
  EXPECT_NE(first.process, other.process);
  (void)feedback(first.process, 0, true);
  const Grant second = start(3, 2);
  EXPECT_EQ(second.process, first.process);
  EXPECT_NE(second.ndi, first.ndi);
  EXPECT_EQ(sender_.waiting(other.process, 0).ndi, other.ndi);
}

TEST_F(HarqSenderTest, no_process_is_free_while_all_wait_for_feedback) {
  for (int i = 0; i < 4; ++i) EXPECT_EQ(start(i, static_cast<std::uint64_t>(i)).process, i);
  EXPECT_EQ(sender_.free_process(), kNoProcess);
  (void)feedback(2, 2, false);
  EXPECT_EQ(sender_.free_process(), kNoProcess);  // it waits to be sent again
  sender_.retransmit(2, slot(5));
  (void)feedback(2, 5, true);
  EXPECT_EQ(sender_.free_process(), 2);
}

TEST_F(HarqSenderTest, feedback_that_is_doubled_stale_or_for_an_idle_process_is_counted_and_changes_nothing) {
  EXPECT_EQ(feedback(0, 0, true), Feedback::idle);  // never used
  EXPECT_EQ(feedback(4, 0, true), Feedback::no_process);
  EXPECT_EQ(feedback(255, 0, true), Feedback::no_process);
  const Grant grant = start(1, 5);
  EXPECT_EQ(feedback(grant.process, 4, true), Feedback::stale);
  EXPECT_EQ(feedback(grant.process, 5, false), Feedback::nacked);
  EXPECT_EQ(feedback(grant.process, 5, true), Feedback::duplicate);  // its NACK came: it is sent again all the same
  EXPECT_TRUE(sender_.waits(grant.process));
  sender_.retransmit(grant.process, slot(8));
  EXPECT_EQ(feedback(grant.process, 5, true), Feedback::stale);
  EXPECT_EQ(feedback(grant.process, 8, true), Feedback::acked);
  EXPECT_EQ(feedback(grant.process, 8, true), Feedback::duplicate);
  EXPECT_EQ(feedback(grant.process, 5, false), Feedback::idle);
  EXPECT_EQ(released_, std::vector{1});
  for (const Feedback what : {Feedback::no_process, Feedback::nacked, Feedback::acked})
    EXPECT_EQ(sender_.counters().counted(what), what == Feedback::no_process ? 2U : 1U) << name_of(what);
  for (const Feedback what : {Feedback::idle, Feedback::stale, Feedback::duplicate})
    EXPECT_EQ(sender_.counters().counted(what), 2U) << name_of(what);
}

TEST_F(HarqSenderTest, an_ack_that_comes_late_releases_the_block_that_waits_or_was_sent_again) {
  const auto expire = [&](std::uint64_t now) { sender_.expire(slot(now), [](std::uint8_t) {}, release()); };
  const Grant first = start(1, 5);
  expire(15);
  ASSERT_TRUE(sender_.waits(first.process));
  EXPECT_EQ(sender_.first_slot(first.process), slot(5));
  EXPECT_EQ(feedback(first.process, 5, true), Feedback::late);
  EXPECT_FALSE(sender_.busy(first.process));
  const Grant second = start(2, 20);
  for (const std::uint64_t now : {30, 40}) {
    expire(now);
    sender_.retransmit(second.process, slot(now));
  }
  EXPECT_EQ(sender_.first_slot(second.process), slot(20));
  EXPECT_EQ(feedback(second.process, 20, false), Feedback::stale);  // that it did not arrive then, says nothing
  EXPECT_EQ(feedback(second.process, 5, true), Feedback::stale);    // of the TB before
  EXPECT_EQ(feedback(second.process, 30, true), Feedback::late);
  EXPECT_FALSE(sender_.busy(second.process));
  EXPECT_EQ(released_, (std::vector{1, 2}));
  EXPECT_EQ(sender_.counters().counted(Feedback::late), 2U);
}

TEST(HarqCell, feedback_one_slot_too_late_releases_each_block_with_its_first_ack) {
  HarqCell<Block> cell(1, {.feedback_slots = 8});
  int released = 0;
  const auto release = [&](const Block&) { ++released; };
  for (std::uint64_t now = 0; now < 900; now += 9) {
    cell.start({.slot = slot(now), .process = cell.ue(0).free_process()}, std::make_unique<int>(1));
    cell.expire(slot(now + 8), release);
    ASSERT_EQ(cell.waiting().size(), 1U);
    ASSERT_EQ(cell.feedback(0, cell.waiting()[0].process, slot(now), true, release), Feedback::late);
    ASSERT_TRUE(cell.waiting().empty());
  }
  EXPECT_EQ(released, 100);
  EXPECT_EQ(cell.ue(0).counters().retransmissions, 0U);
}

TEST_F(HarqSenderTest, a_transmission_without_feedback_is_lost_when_its_time_is_over) {
  const Grant grant = start(1, 20470);  // the frame number wraps before the feedback is due
  std::vector<int> lost;
  const auto expire = [&](std::uint64_t now) {
    sender_.expire(slot(now), [&](std::uint8_t process) { lost.push_back(process); }, release());
  };
  expire(20479);
  EXPECT_TRUE(lost.empty());
  expire(20480);
  EXPECT_EQ(lost, std::vector<int>{grant.process});
  expire(20490);  // it waits to be sent again: nothing expires
  EXPECT_EQ(lost.size(), 1U);
  for (std::uint64_t now = 20500; now < 20530; now += 10) {
    sender_.retransmit(grant.process, slot(now));
    expire(now + 10);
  }
  EXPECT_EQ(lost.size(), 3U);
  EXPECT_EQ(released_, std::vector{1});
  EXPECT_EQ(sender_.counters().no_feedback, 4U);
  EXPECT_EQ(sender_.counters().counted(Feedback::given_up), 1U);
}

TEST_F(HarqSenderTest, a_busy_process_takes_no_other_block) {
  const Grant grant = start(1, 0);
  EXPECT_FALSE(sender_.start(grant, std::make_unique<int>(2)));
  EXPECT_EQ(*sender_.block(grant.process), 1);
  (void)feedback(grant.process, 0, false);
  EXPECT_FALSE(sender_.start(grant, std::make_unique<int>(2)));
  EXPECT_FALSE(sender_.start({.process = 4}, std::make_unique<int>(2)));
  EXPECT_FALSE(sender_.start({.process = kNoProcess}, std::make_unique<int>(2)));
  EXPECT_EQ(*sender_.block(grant.process), 1);
  EXPECT_EQ(sender_.waiting(grant.process, 0).ndi, grant.ndi);
  EXPECT_EQ(sender_.counters().refused, 4U);
  EXPECT_EQ(sender_.counters().blocks, 1U);
}

TEST(HarqSender, has_from_1_to_16_processes) {
  for (const unsigned processes : {0U, 1U, 16U, 17U, 255U}) {
    HarqSender<int> sender({.processes = static_cast<std::uint8_t>(processes)});
    unsigned free = 0;
    while (sender.free_process() != kNoProcess && sender.start({.process = sender.free_process()}, 1)) ++free;
    EXPECT_EQ(free, std::clamp(processes, 1U, 16U));
  }
}

// Half a cycle of frame numbers is 5.12 s, or 10240 slots.
TEST_F(HarqSenderTest, after_a_loop_that_stood_still_for_seconds_transmissions_are_over) {
  for (const std::uint64_t still : {10'000, 10'300, 15'000, 18'000}) {
    const Grant grant = start(1, 100);
    std::vector<int> lost;
    sender_.expire(slot(100 + still), [&](std::uint8_t process) { lost.push_back(process); }, release());
    EXPECT_EQ(lost, std::vector<int>{grant.process}) << still;
  }
  sender_.discard_all(release());
  (void)start(1, 120);  // it is scheduled ahead
  sender_.expire(slot(100), [](std::uint8_t) { ADD_FAILURE(); }, release());
}

// A HARQ-ACK of a PHY names the UE and the slot, and no process.
TEST_F(HarqSenderTest, the_slot_tells_the_process) {
  const Grant first = start(1, 10), second = start(2, 11);
  EXPECT_EQ(sender_.open(), 2U);
  EXPECT_EQ(sender_.process_in(slot(10)), first.process);
  EXPECT_EQ(sender_.process_in(slot(11)), second.process);
  EXPECT_EQ(sender_.process_in(slot(12)), kNoProcess);
  (void)feedback(first.process, 10, false);
  sender_.retransmit(first.process, slot(20));
  EXPECT_EQ(sender_.process_in(slot(10)), first.process) << "an ACK may still come, but counts once";
  EXPECT_EQ(sender_.process_in(slot(20)), first.process);
  EXPECT_EQ(sender_.open(), 2U);
  EXPECT_EQ(sender_.counters().missed(), 1U);
  (void)feedback(first.process, 20, true);
  EXPECT_EQ(sender_.open(), 1U);
  EXPECT_EQ(sender_.process_in(slot(20)), first.process) << "its feedback may come twice";
  EXPECT_EQ(sender_.process_in(slot(10)), kNoProcess);
  // A cycle of frame numbers later, another process sends in the slot of the same name.
  (void)start(3, 12);
  const Grant same = start(4, 11 + 20480);
  (void)feedback(second.process, 11, true);
  EXPECT_EQ(sender_.process_in(slot(11)), same.process);
}

TEST(HarqCell, what_all_ues_count_adds_up_and_all_blocks_can_be_discarded_at_once) {
  HarqCell<Block> cell(3, {.feedback_slots = 8});
  unsigned released = 0;
  const auto release = [&](const Block&) { ++released; };
  for (std::uint16_t ue = 0; ue < 3; ++ue) {
    for (std::uint8_t process = 0; process < 2; ++process) {
      cell.start({.slot = slot(process), .ue = ue, .process = process}, std::make_unique<int>(1));
    }
  }
  EXPECT_EQ(cell.feedback(0, 0, slot(0), true, release), Feedback::acked);
  EXPECT_EQ(cell.feedback(1, 0, slot(0), false, release), Feedback::nacked);
  cell.expire(slot(8), release);
  const Grant again{.slot = slot(9), .retransmission = true, .ue = 1, .process = 0};
  cell.retransmit({&again, 1});
  cell.discard_all(release);
  EXPECT_TRUE(cell.waiting().empty());
  EXPECT_EQ(released, 6U);
  EXPECT_EQ(cell.counters().blocks, 6U);
  EXPECT_EQ(cell.counters().counted(Feedback::acked), 1U);
  EXPECT_EQ(cell.counters().counted(Feedback::nacked), 2U);
  EXPECT_EQ(cell.counters().no_feedback, 1U);
  EXPECT_EQ(cell.counters().retransmissions, 1U);
  EXPECT_EQ(cell.counters().discarded, 5U);
  EXPECT_EQ(cell.ue(0).counters().discarded + cell.ue(1).counters().discarded + cell.ue(2).counters().discarded, 5U);
}

TEST_F(HarqSenderTest, discarding_releases_what_was_sent_and_what_waits) {
  (void)start(1, 0);
  (void)start(2, 1);
  (void)feedback(0, 0, false);
  sender_.discard_all(release());
  EXPECT_EQ(released_, (std::vector{1, 2}));
  EXPECT_EQ(sender_.free_process(), 0);
  EXPECT_EQ(sender_.counters().discarded, 2U);
  EXPECT_EQ(feedback(1, 1, true), Feedback::duplicate);
}

TEST(HarqCell, blocks_wait_in_the_order_of_their_nacks_until_a_grant_sends_them) {
  HarqCell<Block> cell(3, {});
  const auto release = [](const Block&) {};
  for (std::uint16_t ue = 0; ue < 3; ++ue) {
    const Grant grant{.slot = slot(0), .ue = ue, .process = 0, .tb_bytes = 10U + ue};
    cell.start(grant, std::make_unique<int>(ue));
  }
  for (const std::uint16_t ue : std::initializer_list<std::uint16_t>{2, 0, 1})
    EXPECT_EQ(cell.feedback(ue, 0, slot(0), false, release), Feedback::nacked);
  ASSERT_EQ(cell.waiting().size(), 3U);
  EXPECT_EQ(cell.waiting()[0].ue, 2);
  EXPECT_EQ(cell.waiting()[0].tb_bytes, 12U);
  const std::vector<Grant> grants{{.slot = slot(4), .retransmission = true, .ue = 0, .process = 0},
                                  {.slot = slot(4), .ue = 2, .process = 1}};
  cell.retransmit(grants);
  ASSERT_EQ(cell.waiting().size(), 2U);
  EXPECT_EQ(cell.waiting()[0].ue, 2);
  EXPECT_EQ(cell.waiting()[1].ue, 1);
  cell.discard_all(2, release);
  ASSERT_EQ(cell.waiting().size(), 1U);
  EXPECT_EQ(cell.waiting()[0].ue, 1);
  EXPECT_EQ(cell.feedback(0, 0, slot(4), false, release), Feedback::nacked);
  EXPECT_EQ(cell.waiting().back().ue, 0);
  EXPECT_EQ(cell.waiting().back().rv, 3);  // sent twice already
}

// Its PRBs may be more than a slot has by now: no scheduler can grant it.
TEST(HarqCell, a_block_that_waits_too_long_is_given_up) {
  HarqCell<Block> cell(70, {.feedback_slots = 8, .waiting_slots = 50});
  int released = 0;
  const auto release = [&](const Block&) { ++released; };
  cell.start({.slot = slot(0), .ue = 66, .process = 3, .prbs = 300}, std::make_unique<int>(1));
  ASSERT_EQ(cell.feedback(66, 3, slot(0), false, release), Feedback::nacked);
  for (std::uint64_t now = 1; now < 50; ++now) cell.expire(slot(now), release);
  EXPECT_EQ(cell.waiting().size(), 1U);
  cell.expire(slot(50), release);
  EXPECT_TRUE(cell.waiting().empty());
  EXPECT_EQ(released, 1);
  EXPECT_FALSE(cell.ue(66).busy(3));
  EXPECT_EQ(cell.ue(66).counters().counted(Feedback::given_up), 1U);
}

TEST(HarqCell, transmissions_of_any_ue_expire_and_wait_again) {
  HarqCell<Block> cell(200, {.max_retransmissions = 1, .feedback_slots = 8});
  std::vector<int> released;
  const auto release = [&](const Block& block) { released.push_back(*block); };
  for (const std::uint16_t ue : std::initializer_list<std::uint16_t>{3, 64, 199})
    cell.start({.slot = slot(ue), .ue = ue, .process = 0}, std::make_unique<int>(ue));
  (void)cell.feedback(64, 0, slot(64), true, release);
  cell.expire(slot(80), release);
  ASSERT_EQ(cell.waiting().size(), 1U);
  EXPECT_EQ(cell.waiting()[0].ue, 3);
  cell.expire(slot(207), release);
  ASSERT_EQ(cell.waiting().size(), 2U);
  EXPECT_EQ(cell.waiting()[1].ue, 199);
  const Grant again{.slot = slot(208), .retransmission = true, .ue = 3, .process = 0};
  cell.retransmit({&again, 1});
  cell.expire(slot(216), release);
  EXPECT_EQ(released, (std::vector{64, 3}));
  EXPECT_EQ(cell.ue(3).counters().no_feedback, 2U);
  EXPECT_EQ(cell.waiting().size(), 1U);
}

TEST(HarqReceiver, the_ndi_tells_a_new_block_from_a_repetition) {
  HarqReceiver receiver;
  EXPECT_EQ(receiver.receive(3, 0, true), HarqReception::delivered);  // the first one is new, whatever its NDI
  EXPECT_EQ(receiver.receive(3, 0, true), HarqReception::duplicate);
  EXPECT_EQ(receiver.receive(3, 0, false), HarqReception::duplicate);  // it was decoded before: ACK
  EXPECT_EQ(receiver.receive(3, 1, false), HarqReception::failed);
  EXPECT_EQ(receiver.receive(3, 1, true), HarqReception::delivered);
  EXPECT_EQ(receiver.receive(4, 1, true), HarqReception::delivered);  // processes do not touch each other
  EXPECT_EQ(receiver.counters().retransmissions, 3U);
  EXPECT_EQ(receiver.counters().abandoned, 0U);
}

TEST(HarqReceiver, a_new_block_before_the_last_one_was_decoded_abandons_that) {
  HarqReceiver receiver;
  (void)receiver.receive(0, 1, false);
  EXPECT_EQ(receiver.receive(0, 0, true), HarqReception::delivered);
  EXPECT_EQ(receiver.counters().abandoned, 1U);
}

TEST(HarqReceiver, a_process_that_does_not_exist_is_dropped_and_after_a_reset_all_is_new) {
  HarqReceiver receiver;
  EXPECT_EQ(receiver.receive(16, 0, true), HarqReception::no_process);
  EXPECT_EQ(receiver.receive(255, 0, true), HarqReception::no_process);
  EXPECT_EQ(receiver.receive(15, 0, true), HarqReception::delivered);
  receiver.reset();
  EXPECT_EQ(receiver.receive(15, 0, true), HarqReception::delivered);
  EXPECT_EQ(receiver.counters().counted(HarqReception::no_process), 2U);
}

class HarqUplinkTest : public testing::Test {
 protected:
  // The number of the block that is sent; -1 if nothing is.
  int grant(std::uint8_t process, std::uint8_t ndi, std::uint32_t bytes = 100) {
    const Block* const sent = uplink_.granted(
        {.process = process, .ndi = ndi, .tb_bytes = bytes}, [&] { return std::make_unique<int>(made_++); },
        [&](const Block& block) { released_.push_back(*block); });
    return sent == nullptr ? -1 : **sent;
  }

  HarqUplink<Block> uplink_;
  int made_ = 0;
  std::vector<int> released_;
};

TEST_F(HarqUplinkTest, a_grant_with_the_same_ndi_sends_the_same_block_again) {
  EXPECT_EQ(grant(0, 1), 0);
  EXPECT_EQ(grant(1, 1), 1);
  EXPECT_EQ(grant(0, 1), 0);
  EXPECT_EQ(grant(0, 1), 0);
  EXPECT_TRUE(released_.empty());
  EXPECT_EQ(uplink_.counted(UplinkGrant::repetition), 2U);
}

TEST_F(HarqUplinkTest, a_toggled_ndi_releases_the_block_and_sends_a_new_one) {
  EXPECT_EQ(grant(5, 0), 0);  // nothing was held: new, whatever the NDI
  EXPECT_EQ(grant(5, 1), 1);
  EXPECT_EQ(grant(5, 0), 2);
  EXPECT_EQ(released_, (std::vector{0, 1}));
  EXPECT_EQ(uplink_.counted(UplinkGrant::new_block), 3U);
}

TEST_F(HarqUplinkTest, a_repetition_of_another_size_or_a_wrong_process_sends_nothing) {
  EXPECT_EQ(grant(5, 0, 100), 0);
  EXPECT_EQ(grant(5, 0, 101), -1);
  EXPECT_EQ(grant(16, 0), -1);
  EXPECT_EQ(grant(kNoProcess, 0), -1);
  EXPECT_EQ(grant(5, 0, 100), 0);
  EXPECT_EQ(uplink_.counted(UplinkGrant::size_differs), 1U);
  EXPECT_EQ(uplink_.counted(UplinkGrant::wrong_process), 2U);
}

TEST_F(HarqUplinkTest, without_a_block_nothing_is_sent_or_held_and_the_same_ndi_asks_again) {
  EXPECT_EQ(grant(5, 0), 0);
  const auto none = [&](std::uint8_t ndi) {
    return uplink_.granted(
        {.process = 5, .ndi = ndi, .tb_bytes = 100}, [] { return Block(); },
        [&](const Block& block) { released_.push_back(*block); });
  };
  EXPECT_EQ(none(1), nullptr);
  EXPECT_EQ(none(1), nullptr);
  EXPECT_EQ(released_, std::vector{0});
  EXPECT_EQ(uplink_.counted(UplinkGrant::no_block), 2U);
  EXPECT_EQ(grant(5, 1), 1);
  uplink_.reset([&](const Block& block) { released_.push_back(*block); });
  EXPECT_EQ(released_, (std::vector{0, 1}));
}

TEST_F(HarqUplinkTest, a_block_whose_memory_is_needed_is_forgotten_once_and_the_others_stay) {
  (void)grant(5, 0);
  (void)grant(6, 0);
  EXPECT_FALSE(uplink_.is_new({.process = 5, .ndi = 0, .tb_bytes = 100}));
  EXPECT_TRUE(uplink_.is_new({.process = 5, .ndi = 1, .tb_bytes = 100}));
  const auto release = [&](const Block& block) { released_.push_back(*block); };
  uplink_.forget(5, release);
  uplink_.forget(5, release);
  EXPECT_EQ(released_, std::vector{0});
  EXPECT_TRUE(uplink_.is_new({.process = 5, .ndi = 0, .tb_bytes = 100}));
  EXPECT_EQ(grant(5, 0), 2);
  EXPECT_EQ(grant(6, 0), 1);
}

TEST_F(HarqUplinkTest, after_a_reset_each_grant_is_new) {
  (void)grant(5, 0);
  (void)grant(6, 0);
  uplink_.reset([&](const Block& block) { released_.push_back(*block); });
  EXPECT_EQ(released_, (std::vector{0, 1}));
  EXPECT_EQ(grant(5, 0), 2);
  EXPECT_EQ(released_.size(), 2U);
}

// Both ends of the uplink: the gNB grants, and knows by its own CRC what to grant again. It keeps no octets (NoBlock).
TEST(Harq, in_the_uplink_the_gnb_repeats_grants_until_each_block_arrived_once) {
  struct NoBlock {};
  Random random(4);
  HarqCell<NoBlock> gnb(1, {.max_retransmissions = 6, .feedback_slots = 10});
  HarqReceiver receiver;
  HarqUplink<Block> ue;
  std::set<int> arrived;
  int made = 0;
  const auto drop = [](const NoBlock&) {};
  for (std::uint64_t now = 0; now < 20'000; ++now) {
    gnb.expire(slot(now), drop);
    Grant grant{.slot = slot(now), .direction = Direction::kUplink, .tb_bytes = 50};
    if (!gnb.waiting().empty()) {
      const Retransmission& r = gnb.waiting().front();
      grant.process = r.process;
      grant.ndi = r.ndi;
      grant.retransmission = true;
      EXPECT_EQ(r.tb_bytes, 50U);
      gnb.retransmit({&grant, 1});
    } else {
      grant.process = gnb.ue(0).free_process();
      if (grant.process == kNoProcess) continue;
      grant.ndi = gnb.ue(0).next_ndi(grant.process);
      gnb.start(grant, {});
    }
    if (random.below(10) == 0) continue;  // the UE does not see the grant
    const Block* const sent = ue.granted(grant, [&] { return std::make_unique<int>(made++); }, [](const Block&) {});
    ASSERT_NE(sent, nullptr);
    if (random.below(10) == 0) continue;  // the gNB does not see the TB
    const auto what = receiver.receive(grant.process, grant.ndi, random.below(5) != 0);
    if (what == HarqReception::delivered) {
      EXPECT_TRUE(arrived.insert(**sent).second);
    }
    (void)gnb.feedback(0, grant.process, grant.slot, what != HarqReception::failed, drop);
  }
  EXPECT_GT(made, 10'000);
  EXPECT_GE(arrived.size() + 20, static_cast<std::size_t>(made));
  EXPECT_GT(receiver.counters().retransmissions, 1000U);
}

// Blocks, NACKs and ACKs are lost, doubled and late. Each block is delivered once or given up, each is released once,
// and none is delivered after a later one of its process.
TEST(Harq, over_an_air_that_loses_both_ways_each_block_arrives_once_or_is_given_up) {
  for (const double loss : {0.0, 0.05, 0.3, 0.7}) {
    Random random(11);
    HarqSettings settings{.processes = 8, .max_retransmissions = 4, .feedback_slots = 12};
    HarqCell<Block> cell(1, settings);
    const HarqSender<Block>& sender = cell.ue(0);
    HarqReceiver receiver;
    std::set<int> delivered, released;
    int made = 0;
    struct Answer {
      std::uint8_t process;
      Slot sent_in;
      bool ack;
    };
    std::multimap<std::uint64_t, Answer> answers;
    const auto release = [&](const Block& block) { ASSERT_TRUE(released.insert(*block).second); };
    const auto transmit = [&](std::uint8_t process, std::uint8_t ndi, std::uint64_t now) {
      if (random.unit() <= loss / 2) return;  // not even seen
      const auto what = receiver.receive(process, ndi, random.unit() > loss);
      if (what == HarqReception::delivered) {
        EXPECT_TRUE(delivered.insert(*sender.block(process)).second);
      }
      const Answer answer{process, slot(now), what != HarqReception::failed};
      const std::uint64_t due = now + 4 + (random.unit() <= loss ? random.below(20) : 0);
      if (random.unit() > loss / 4) answers.emplace(due, answer);
      if (random.unit() <= loss / 4) answers.emplace(due + random.below(8), answer);
    };
    std::uint64_t now = 20400;  // the frame number wraps on the way
    for (; now < 60000; ++now) {
      while (!answers.empty() && answers.begin()->first <= now) {
        const Answer& a = answers.begin()->second;
        (void)cell.feedback(0, a.process, a.sent_in, a.ack, release);
        answers.erase(answers.begin());
      }
      cell.expire(slot(now), release);
      if (!cell.waiting().empty()) {
        const Retransmission r = cell.waiting().front();
        const Grant grant{.slot = slot(now), .retransmission = true, .ue = 0, .process = r.process};
        cell.retransmit({&grant, 1});
        transmit(r.process, r.ndi, now);
      } else if (const std::uint8_t process = sender.free_process(); process != kNoProcess) {
        const std::uint8_t ndi = sender.next_ndi(process);
        cell.start({.slot = slot(now), .process = process, .ndi = ndi}, std::make_unique<int>(made++));
        transmit(process, ndi, now);
      }
    }
    cell.discard_all(0, release);
    EXPECT_EQ(released.size(), static_cast<std::size_t>(made));
    const HarqSenderCounters& c = sender.counters();
    EXPECT_EQ(c.blocks, static_cast<std::uint64_t>(made));
    EXPECT_EQ(c.blocks,
              c.counted(Feedback::acked) + c.counted(Feedback::late) + c.counted(Feedback::given_up) + c.discarded);
    EXPECT_EQ(receiver.counters().counted(HarqReception::delivered), delivered.size());
    if (loss == 0) {
      EXPECT_GE(delivered.size() + 8, static_cast<std::size_t>(made));
      EXPECT_EQ(c.retransmissions + c.no_feedback, 0U);
    } else {
      EXPECT_GT(c.retransmissions, 0U);
      EXPECT_GT(c.no_feedback, 0U);
    }
    // What was acknowledged was delivered, but for a block whose every transmission passed unseen.
    EXPECT_GE(delivered.size() + static_cast<std::size_t>(made) / 20,
              c.counted(Feedback::acked) + c.counted(Feedback::late))
        << loss;
  }
}

// What a scatter list is to HARQ: an owner of references. RLC may let go of its buffer while the block may be sent
// again.
TEST(Harq, a_scatter_list_keeps_the_buffers_that_it_points_into_until_its_ack) {
  struct Scatter {
    std::vector<std::shared_ptr<const std::vector<std::uint8_t>>> parts;
  };
  auto sdu = std::make_shared<const std::vector<std::uint8_t>>(3, std::uint8_t{0xAB});
  const std::weak_ptr<const std::vector<std::uint8_t>> watched = sdu;
  HarqSender<Scatter> sender;
  sender.start({.slot = slot(0), .process = 0}, {{sdu}});
  sdu.reset();  // RLC received the acknowledgement on another way, or discarded the SDU
  EXPECT_EQ(sender.feedback(0, slot(0), false, [](const Scatter&) {}), Feedback::nacked);
  EXPECT_EQ(sender.block(0).parts[0]->at(2), 0xAB);
  sender.retransmit(0, slot(9));
  EXPECT_EQ(sender.feedback(0, slot(9), true, [](const Scatter&) {}), Feedback::acked);
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace splitplane::phy

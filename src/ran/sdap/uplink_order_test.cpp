#include "ran/sdap/uplink_order.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <deque>
#include <memory>

namespace splitplane::ran::sdap {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Sdu = std::unique_ptr<int>;  // movable only, as a buffer

constexpr Time kHold = 100;
constexpr Qfi kFlow{5}, kOther{6};
constexpr DrbId kA{1}, kB{2}, kC{32}, kBare{3};  // kBare has no UL header

FlowMap make_map() {
  FlowMap map;
  for (const DrbId drb : {kA, kB, kC}) EXPECT_TRUE(map.configure_drb(drb, {.header_ul = true}));
  EXPECT_TRUE(map.configure_drb(kBare, {}));
  return map;
}

class UplinkOrderTest : public testing::Test {
 protected:
  auto take() {
    return [this](Qfi, Sdu sdu) { delivered.push_back(*sdu); };
  }
  void receive(DrbId drb, int number, Qfi qfi = kFlow, Time now = 0) {
    order.receive(qfi, drb, std::make_unique<int>(number), now, take());
  }
  void end(DrbId drb, Qfi qfi = kFlow) { order.end(qfi, drb, take()); }
  // What was delivered since the last call.
  std::vector<int> taken() { return std::exchange(delivered, {}); }

  FlowMap map = make_map();
  UplinkOrder<Sdu> order{map, {.hold = kHold, .held = 4}};
  std::vector<int> delivered;
};

TEST_F(UplinkOrderTest, a_flow_that_stays_is_delivered_at_once) {
  for (int i = 1; i <= 3; ++i) receive(kA, i);
  EXPECT_THAT(taken(), ElementsAre(1, 2, 3));
  EXPECT_EQ(order.next_work(), kNever);
  EXPECT_EQ(order.counters().held, 0U);
}

TEST_F(UplinkOrderTest, a_moved_flow_waits_for_the_end_marker) {
  receive(kA, 1);
  receive(kB, 3);
  receive(kB, 4);
  receive(kA, 2);
  EXPECT_THAT(taken(), ElementsAre(1, 2));
  EXPECT_EQ(order.held(), 2U);
  end(kA);
  EXPECT_THAT(taken(), ElementsAre(3, 4));
  receive(kB, 5);
  EXPECT_THAT(taken(), ElementsAre(5));
  EXPECT_EQ(order.counters().held, 2U);
  EXPECT_EQ(order.counters().timeouts, 0U);
}

TEST_F(UplinkOrderTest, after_an_early_end_marker_nothing_waits) {
  receive(kA, 1);
  end(kA);
  receive(kB, 2);
  EXPECT_THAT(taken(), ElementsAre(1, 2));
}

TEST_F(UplinkOrderTest, a_timeout_does_not_move_a_flow_back_to_a_drb_that_it_has_left) {
  receive(kB, 4);  // it overtakes what the flow sent before on kA
  for (int i = 1; i <= 3; ++i) receive(kA, i);
  end(kA);
  EXPECT_THAT(taken(), ElementsAre(4));
  order.tick(kHold, take());
  EXPECT_THAT(taken(), ElementsAre(1, 2, 3));
  receive(kB, 5, kFlow, kHold);
  EXPECT_THAT(taken(), ElementsAre(5));
  end(kB);
  receive(kC, 6, kFlow, kHold);
  EXPECT_THAT(taken(), ElementsAre(6)) << "the end marker came first, so it does not wait";
  EXPECT_EQ(order.held(), 0U);
}

TEST_F(UplinkOrderTest, an_end_marker_of_a_flow_that_stays_changes_nothing) {
  receive(kA, 1);
  end(kA);  // the first rule names the default DRB
  receive(kA, 2);
  end(kB);
  receive(kA, 3);
  EXPECT_THAT(taken(), ElementsAre(1, 2, 3));
}

TEST_F(UplinkOrderTest, a_drb_that_can_carry_no_end_marker_is_left_at_once) {
  receive(kBare, 1);
  receive(kA, 2);
  receive(kB, 3);
  EXPECT_THAT(taken(), ElementsAre(1, 2));
  end(kA);
  EXPECT_THAT(taken(), ElementsAre(3));
}

TEST_F(UplinkOrderTest, other_flows_do_not_wait) {
  receive(kA, 1);
  receive(kB, 2);
  receive(kB, 10, kOther);
  EXPECT_THAT(taken(), ElementsAre(1, 10));
  end(kA, kOther);
  EXPECT_THAT(taken(), IsEmpty());
  end(kA);
  EXPECT_THAT(taken(), ElementsAre(2));
}

TEST_F(UplinkOrderTest, a_missing_end_marker_delays_by_the_hold_time_at_most) {
  receive(kA, 1);
  receive(kB, 2, kFlow, 10);
  receive(kB, 3, kFlow, 60);
  EXPECT_EQ(order.next_work(), 10 + kHold);
  order.tick(10 + kHold - 1, take());
  EXPECT_THAT(taken(), ElementsAre(1));
  order.tick(10 + kHold, take());
  EXPECT_THAT(taken(), ElementsAre(2, 3));
  EXPECT_EQ(order.counters().timeouts, 1U);
  receive(kB, 4);
  EXPECT_THAT(taken(), ElementsAre(4));  // the flow is there now
}

TEST_F(UplinkOrderTest, sdus_that_come_after_the_hold_time_do_not_wait_and_make_none_wait) {
  receive(kA, 1);
  receive(kB, 3);
  order.tick(kHold, take());
  receive(kA, 2);
  receive(kB, 4);
  end(kA);
  receive(kB, 5);
  EXPECT_THAT(taken(), ElementsAre(1, 3, 2, 4, 5));
  receive(kA, 7);  // the flow moves back, and waits as usual
  EXPECT_THAT(taken(), IsEmpty());
  receive(kB, 6);
  end(kB);
  EXPECT_THAT(taken(), ElementsAre(6, 7));
}

TEST_F(UplinkOrderTest, a_flow_returns_to_a_drb_whose_end_marker_was_missing) {
  receive(kA, 1);
  receive(kB, 2);
  order.tick(kHold, take());
  end(kB);
  receive(kA, 3);
  receive(kB, 4);
  EXPECT_THAT(taken(), ElementsAre(1, 2, 3));
  end(kA);
  EXPECT_THAT(taken(), ElementsAre(4));
}

TEST_F(UplinkOrderTest, too_many_held_sdus_end_the_wait) {
  receive(kA, 1);
  for (int i = 2; i <= 5; ++i) receive(kB, i);
  EXPECT_THAT(taken(), ElementsAre(1));
  receive(kB, 6);
  EXPECT_THAT(taken(), ElementsAre(2, 3, 4, 5, 6));
  EXPECT_EQ(order.counters().overflows, 1U);
  EXPECT_EQ(order.held(), 0U);
}

TEST_F(UplinkOrderTest, a_second_move_waits_for_both_end_markers) {
  receive(kA, 1);
  receive(kB, 2);
  end(kB);
  receive(kC, 3);
  EXPECT_THAT(taken(), ElementsAre(1));
  end(kA);
  EXPECT_THAT(taken(), ElementsAre(2, 3));
  receive(kC, 4);
  EXPECT_THAT(taken(), ElementsAre(4));
}

TEST_F(UplinkOrderTest, the_release_of_the_old_drb_ends_the_wait) {
  receive(kA, 1);
  receive(kB, 2);
  map.release_drb(kA);
  order.release_drb(kA, take());
  EXPECT_THAT(taken(), ElementsAre(1, 2));
}

TEST_F(UplinkOrderTest, without_a_hold_time_nothing_waits) {
  UplinkOrder<Sdu> off{map, {}};
  for (const DrbId drb : {kA, kB, kA}) off.receive(kFlow, drb, std::make_unique<int>(drb.value), 0, take());
  EXPECT_THAT(taken(), ElementsAre(1, 2, 1));
  EXPECT_EQ(off.counters().held + off.counters().overflows, 0U);
}

// Each DRB keeps its order, and DRBs overtake each other at random. The flow moves again and again.
RC_GTEST_PROP(UplinkOrder, a_flow_that_moves_keeps_its_order, ()) {
  constexpr int kEnd = -1;
  const FlowMap map = make_map();
  UplinkOrder<Sdu> order{map, {.hold = kHold, .held = 1000}};
  std::array<std::deque<int>, 4> air;  // on its way, by DRB 1 and 2
  int sent = 0, next = 1;
  DrbId at = kA;
  bool arrived = false;  // an SDU of the flow since it came to `at`
  const auto choices = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 6));
  const auto deliver = [&](Qfi, Sdu sdu) { RC_ASSERT(*sdu == next++); };
  const auto arrive = [&](DrbId drb) {
    auto& way = air[drb.value];
    if (way.empty()) return;
    const int number = way.front();
    way.pop_front();
    arrived = arrived || drb == at;
    if (number == kEnd) {
      order.end(kFlow, drb, deliver);
    } else {
      order.receive(kFlow, drb, std::make_unique<int>(number), 0, deliver);
    }
  };
  for (const int choice : choices) {
    const DrbId other = at == kA ? kB : kA;
    if (choice == 0 && arrived && air[other.value].empty()) {
      air[at.value].push_back(kEnd);
      at = other;
      arrived = false;
    } else if (choice <= 2) {
      air[at.value].push_back(++sent);
    } else {
      arrive(choice == 5 ? kB : choice == 4 ? kA : at);
    }
  }
  while (!air[1].empty() || !air[2].empty()) {
    arrive(kA);
    arrive(kB);
  }
  RC_ASSERT(next == sent + 1);
  RC_ASSERT(order.held() == 0U);
}

}  // namespace
}  // namespace splitplane::ran::sdap

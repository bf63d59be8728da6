#include "ran/sdap/flow_map.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace splitplane::ran::sdap {
namespace {

TEST(FlowMap, a_flow_without_a_rule_uses_the_default_drb) {
  FlowMap map;
  EXPECT_EQ(map.drb_of(Qfi{5}), DrbId{});
  ASSERT_TRUE(map.configure_drb(DrbId{2}, {}));
  EXPECT_EQ(map.drb_of(Qfi{5}), DrbId{});
  ASSERT_TRUE(map.set_default(DrbId{2}));
  EXPECT_EQ(map.drb_of(Qfi{5}), DrbId{2});
  EXPECT_EQ(map.rule_of(Qfi{5}), DrbId{});
}

TEST(FlowMap, a_rule_outlives_a_change_of_the_default_drb) {
  FlowMap map;
  for (std::uint8_t drb = 1; drb <= 3; ++drb) ASSERT_TRUE(map.configure_drb(DrbId{drb}, {}));
  ASSERT_TRUE(map.set_default(DrbId{1}));
  ASSERT_TRUE(map.set_rule(Qfi{63}, DrbId{1}));
  ASSERT_TRUE(map.set_default(DrbId{3}));
  EXPECT_EQ(map.drb_of(Qfi{63}), DrbId{1});
  EXPECT_EQ(map.drb_of(Qfi{62}), DrbId{3});
  map.release_rule(Qfi{63});
  EXPECT_EQ(map.drb_of(Qfi{63}), DrbId{3});
}

TEST(FlowMap, a_released_drb_takes_its_rules_along) {
  FlowMap map;
  ASSERT_TRUE(map.configure_drb(DrbId{1}, {.header_ul = true}));
  ASSERT_TRUE(map.configure_drb(DrbId{32}, {.header_ul = true, .header_dl = true, .qfi = Qfi{9}}));
  ASSERT_TRUE(map.set_default(DrbId{1}));
  ASSERT_TRUE(map.set_rule(Qfi{0}, DrbId{32}));
  ASSERT_TRUE(map.set_rule(Qfi{1}, DrbId{1}));
  map.release_drb(DrbId{32});
  EXPECT_FALSE(map.has_drb(DrbId{32}));
  EXPECT_FALSE(map.header_ul(DrbId{32}) || map.header_dl(DrbId{32}));
  EXPECT_EQ(map.only_flow(DrbId{32}), std::nullopt);
  EXPECT_EQ(map.rule_of(Qfi{0}), DrbId{});
  EXPECT_EQ(map.drb_of(Qfi{0}), DrbId{1});
  map.release_drb(DrbId{1});
  EXPECT_EQ(map.default_drb(), DrbId{});
  EXPECT_EQ(map.drb_of(Qfi{0}), DrbId{});
  EXPECT_EQ(map.drb_of(Qfi{1}), DrbId{});
}

TEST(FlowMap, identities_out_of_range_are_refused) {
  FlowMap map;
  EXPECT_FALSE(map.configure_drb(DrbId{0}, {}));
  EXPECT_FALSE(map.configure_drb(DrbId{33}, {}));
  EXPECT_FALSE(map.configure_drb(DrbId{1}, {.qfi = Qfi{64}}));
  EXPECT_FALSE(map.has_drb(DrbId{1}));
  ASSERT_TRUE(map.configure_drb(DrbId{1}, {}));
  EXPECT_FALSE(map.set_default(DrbId{2}));
  EXPECT_FALSE(map.set_rule(Qfi{64}, DrbId{1}));
  EXPECT_FALSE(map.set_rule(Qfi{5}, DrbId{2}));
  map.release_rule(Qfi{255});
  map.release_drb(DrbId{255});
  EXPECT_TRUE(map.has_drb(DrbId{1}));
  EXPECT_FALSE(map.has_drb(DrbId{255}));
}

TEST(FlowMap, changed_headers_replace_the_old_ones) {
  FlowMap map;
  ASSERT_TRUE(map.configure_drb(DrbId{4}, {.header_ul = true, .header_dl = false, .qfi = Qfi{0}}));
  EXPECT_EQ(map.only_flow(DrbId{4}), Qfi{0});
  ASSERT_TRUE(map.configure_drb(DrbId{4}, {.header_ul = false, .header_dl = true}));
  EXPECT_FALSE(map.header_ul(DrbId{4}));
  EXPECT_TRUE(map.header_dl(DrbId{4}));
  EXPECT_EQ(map.only_flow(DrbId{4}), std::nullopt);
}

// Against a map of rules and a default that is looked up at each question.
RC_GTEST_PROP(FlowMap, answers_as_rules_before_a_default, ()) {
  FlowMap map;
  std::map<int, int> rules;
  int fallback = 0;
  for (std::uint8_t drb = 1; drb <= 4; ++drb) RC_ASSERT(map.configure_drb(DrbId{drb}, {}));
  const auto steps = *rc::gen::container<std::vector<std::tuple<int, int, int>>>(
      rc::gen::tuple(rc::gen::inRange(0, 3), rc::gen::inRange(0, 64), rc::gen::inRange(0, 5)));
  for (const auto& [what, flow, number] : steps) {
    const Qfi qfi{static_cast<std::uint8_t>(flow)};
    const DrbId drb{static_cast<std::uint8_t>(number)};
    if (what == 0) {
      RC_ASSERT(map.set_default(drb));
      fallback = number;
    } else if (what == 1) {
      RC_ASSERT(map.set_rule(qfi, drb) == (number != 0));
      if (number != 0) rules[flow] = number;
    } else {
      map.release_rule(qfi);
      rules.erase(flow);
    }
  }
  for (int flow = 0; flow < 64; ++flow) {
    const Qfi qfi{static_cast<std::uint8_t>(flow)};
    RC_ASSERT(map.rule_of(qfi).value == (rules.contains(flow) ? rules[flow] : 0));
    RC_ASSERT(map.drb_of(qfi).value == (rules.contains(flow) ? rules[flow] : fallback));
  }
}

}  // namespace
}  // namespace splitplane::ran::sdap

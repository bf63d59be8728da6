#include "placement/decision/loads.h"

#include <gtest/gtest.h>

namespace splitplane::placement {
namespace {

TEST(Loads, come_near_a_constant_rate_and_follow_a_new_one) {
  Settings settings;
  Facts facts;
  facts.bearers.push_back({.id = BearerId{1}, .packets = 5'000'000});
  Loads loads;
  loads.update(facts, settings);
  EXPECT_EQ(loads.of(0), 0) << "a total at the start is no rate";
  const auto pass = [&](int periods, std::uint64_t packets) {
    for (int i = 0; i < periods; ++i) {
      facts.now += Time(500);
      facts.bearers[0].packets += packets;
      facts.bearers[0].octets += packets * 200;
      loads.update(facts, settings);
    }
  };
  pass(1, 100);
  EXPECT_FLOAT_EQ(loads.of(0), 200);
  pass(6, 0);  // 3 s: the load falls by a factor of e
  EXPECT_NEAR(loads.of(0), 200 * 0.3679, 0.1);
  settings.load_of = LoadOf::kOctets;
  pass(1, 100);
  EXPECT_FLOAT_EQ(loads.of(0), 40'000);
  EXPECT_DOUBLE_EQ(loads.unit(), 200);
}

TEST(Loads, begin_anew_with_another_bearer_and_after_a_total_that_went_back) {
  const Settings settings;
  Facts facts;
  facts.bearers.push_back({.id = BearerId{1}});
  Loads loads;
  const auto pass = [&](std::uint64_t total) {
    facts.now += Time(1000);
    facts.bearers[0].packets = total;
    loads.update(facts, settings);
  };
  pass(0);
  pass(100);
  EXPECT_FLOAT_EQ(loads.of(0), 100);
  pass(100);
  const float before = loads.of(0);
  pass(50);  // the card that counted began anew
  EXPECT_LT(loads.of(0), before);
  EXPECT_GT(loads.of(0), 50);
  facts.bearers[0].id = BearerId{2};
  pass(7000);
  EXPECT_EQ(loads.of(0), 0);
  EXPECT_EQ(loads.of(1), 0) << "a slot that is not there";
}

}  // namespace
}  // namespace splitplane::placement

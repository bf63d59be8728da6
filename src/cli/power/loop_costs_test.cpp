// What a worker's loop costs, by what it counted.
#include "cli/power/loop_costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace splitplane::app {
namespace {

using testing::HasSubstr;

LoopLook look(double busy, double idle, double paused, unsigned rounds, unsigned received) {
  const Json other{{"name", "w1"}, {"rounds", 1}, {"queues", 1}, {"cycles", {{"busy", 0}, {"idle", 1}, {"paused", 0}}}};
  const Json worker{{"name", "w0"},
                    {"rounds", rounds},
                    {"queues", 2},
                    {"cycles", {{"busy", busy}, {"idle", idle}, {"paused", paused}}}};
  return {.power = {{"workers", {other, worker}}},
          .stats = {{"tsc_hz", 2e9},
                    {"workers", {{{"name", "w1"}, {"received", 0}}, {{"name", "w0"}, {"received", received}}}}}};
}

TEST(LoopCosts, a_packet_costs_the_busy_cycles_of_the_worker_that_had_most_rounds) {
  const auto got = loop_costs(look(1000, 0, 0, 10, 5), look(401000, 9000, 0, 90, 1005), "");
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ((*got)[0].name, "packet");
  EXPECT_EQ((*got)[0].ns, 200U);
  EXPECT_THAT((*got)[0].how, HasSubstr("worker w0, 1000 packets"));
  EXPECT_FALSE((*got)[1].ns);
}

TEST(LoopCosts, an_empty_round_is_shared_by_its_queues_and_pauses_are_none_of_it) {
  const auto got = loop_costs(look(0, 0, 0, 0, 0), look(0, 90000, 10000, 100, 0), "w0");
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ((*got)[0].name, "poll");
  EXPECT_EQ((*got)[0].ns, 200U);
  EXPECT_EQ((*got)[1].ns, 0U);
}

TEST(LoopCosts, without_a_round_or_a_worker_it_says_so) {
  const LoopLook same = look(1, 1, 1, 1, 1);
  EXPECT_THAT(loop_costs(same, same, "").error().message, HasSubstr("no worker made a round"));
  EXPECT_THAT(loop_costs(same, same, "w7").error().message, HasSubstr("no worker 'w7'"));
}

}  // namespace
}  // namespace splitplane::app

#include "guard/control/arming_events.h"

#include <gmock/gmock.h>

namespace splitplane::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const auto kBegin = std::chrono::system_clock::time_point{std::chrono::seconds{1'700'000'000}};

ArmedNow web(bool armed, std::uint64_t armings = 1) {
  return {.worker = "w0",
          .server = "web",
          .armed = armed,
          .armings = armings,
          .syns_per_second = 40000,
          .half_open_percent = 99};
}

TEST(ArmingEvents, a_server_that_stays_as_it_is_is_no_event) {
  ArmingEvents events;
  EXPECT_THAT(events.look({web(false, 0)}, kBegin), IsEmpty());
  EXPECT_THAT(events.look({web(false, 0)}, kBegin), IsEmpty());
  EXPECT_EQ(events.count(), 0U);
}

TEST(ArmingEvents, armed_and_at_rest_are_said_once_each_with_their_cause) {
  ArmingEvents events;
  EXPECT_THAT(events.look({web(true)}, kBegin), ElementsAre(HasSubstr("server web: armed: 40000 SYNs a second")));
  EXPECT_THAT(events.look({web(true)}, kBegin + std::chrono::seconds{1}), IsEmpty());
  EXPECT_THAT(events.look({web(false)}, kBegin + std::chrono::seconds{2}), ElementsAre(HasSubstr("rests again")));
  const Json json = json_of(events);
  EXPECT_EQ(json.at("before"), 0);
  ASSERT_EQ(json.at("events").size(), 2U);
  EXPECT_EQ(json.at("events")[0].at("time"), "2023-11-14T22:13:20.000Z");
  EXPECT_EQ(json.at("events")[0].at("what"), "armed");
  EXPECT_EQ(json.at("events")[1].at("what"), "at rest");
}

TEST(ArmingEvents, what_began_and_ended_between_two_looks_is_two_events) {
  ArmingEvents events;
  (void)events.look({web(false, 0)}, kBegin);
  EXPECT_THAT(events.look({web(false, 1)}, kBegin), ElementsAre(HasSubstr("armed"), HasSubstr("rests again")));
  (void)events.look({web(true, 2)}, kBegin);
  EXPECT_THAT(events.look({web(true, 3)}, kBegin), ElementsAre(HasSubstr("rests again"), HasSubstr("armed")));
  EXPECT_EQ(events.count(), 5U);
}

TEST(ArmingEvents, each_worker_and_server_counts_for_itself) {
  ArmingEvents events;
  ArmedNow other = web(true);
  other.worker = "w1";
  EXPECT_EQ(events.look({web(true), other}, kBegin).size(), 2U);
  EXPECT_EQ(events.count(), 2U);
}

TEST(ArmingEvents, a_server_that_was_removed_and_added_begins_at_rest) {
  ArmingEvents events;
  (void)events.look({web(true)}, kBegin);
  (void)events.look({}, kBegin);
  EXPECT_THAT(events.look({web(false)}, kBegin), IsEmpty());
}

TEST(ArmingEvents, a_flood_that_comes_and_goes_fills_neither_memory_nor_log) {
  ArmingEvents events;
  std::size_t lines = 0;
  for (int i = 0; i < 1000; ++i) lines += events.look({web(i % 2 == 0)}, kBegin).size();
  EXPECT_EQ(lines, ArmingEvents::kLines);
  EXPECT_EQ(events.count(), 1000U);
  EXPECT_EQ(events.kept().size(), ArmingEvents::kKept);
  EXPECT_EQ(json_of(events).at("before"), 1000 - ArmingEvents::kKept);
  EXPECT_THAT(events.look({web(false)}, kBegin + ArmingEvents::kWhile), ElementsAre(HasSubstr("980 more times")));
  EXPECT_EQ(events.look({web(true)}, kBegin + ArmingEvents::kWhile).size(), 1U);
}

}  // namespace
}  // namespace splitplane::app

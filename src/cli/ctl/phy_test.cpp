// `ctl phy` for people, from answers as the gNB gives them and from ones that it never would.
#include "cli/ctl/phy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace splitplane::app {
namespace {

using testing::HasSubstr;

TEST(CtlPhy, the_link_and_the_blocks_of_both_directions) {
  const Json harq{
      {"blocks", 1234567}, {"acked", 1200000}, {"retransmissions", 61728}, {"no_feedback", 3}, {"given_up", 2}};
  const Json phys{{{"worker", "w0"},
                   {"state", "running"},
                   {"plans_sent", 2000000},
                   {"messages_dropped", 0},
                   {"link", {{"slots", 2000001}, {"slots_missed", 7}, {"starts", 1}, {"silences", 0}}},
                   {"slots", {{"downlink", {{"harq", harq}, {"no_place", 0}}}, {"uplink", {{"harq", harq}}}}}}};
  const std::string text = render_phys(Json::parse(phys.dump()));
  EXPECT_THAT(text, HasSubstr("running"));
  EXPECT_THAT(text, HasSubstr("2,000,001"));
  EXPECT_THAT(text, HasSubstr("1,234,567"));
  EXPECT_THAT(text, HasSubstr("uplink"));
}

TEST(CtlPhy, an_answer_of_another_kind_is_no_crash) {
  for (const char* text : {"[]", "{}", "3", R"([1, null, {"slots": 3, "link": []}])"})
    EXPECT_THAT(render_phys(Json::parse(text)), HasSubstr("state"));
}

}  // namespace
}  // namespace splitplane::app

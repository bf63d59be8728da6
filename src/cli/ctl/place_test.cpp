// `ctl place` for people, from answers as the gNB gives them and from ones that it never would.
#include "cli/ctl/place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace splitplane::app {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TEST(CtlPlace, how_it_is_decided_what_is_now_and_why) {
  const Json shown{{"settings", {{"mode", "ratio"}, {"ratio", 30}, {"ratio_of", "load"}}},
                   {"now",
                    {{"bearers", 200000},
                     {"movable", 180000},
                     {"on_cards", 50000},
                     {"pinned", 3},
                     {"load", 400.0},
                     {"load_on_cards", 122.0}}},
                   {"moves",
                    {{"to_card", 1234567},
                     {"to_host", 8},
                     {"failed", 2},
                     {"refused", 1},
                     {"with_packets", 5},
                     {"packets", 90},
                     {"longest_hold_us", 2345}}},
                   {"bearers",
                    {{{"id", 0x04040000},
                      {"place", "card0"},
                      {"why", "on card0: it is pinned"},
                      {"load", 12.4},
                      {"pinned", true},
                      {"pinned_by", "file"}}}},
                   {"workers",
                    {{{"worker", "w0"}, {"core", 2}, {"host", ""}, {"state", "runs"}, {"busy", 0.126}},
                     {{"worker", "w1"}, {"core", 3}, {"host", "w0"}, {"state", "stuck"}, {"busy", nullptr}}}}};
  const std::string text = render_placement(Json::parse(shown.dump()));
  EXPECT_THAT(text, HasSubstr("ratio: 30 % of load"));
  EXPECT_THAT(text, HasSubstr("200,000"));
  EXPECT_THAT(text, HasSubstr("25.0 %")) << "of the bearers";
  EXPECT_THAT(text, HasSubstr("30.5 %")) << "of the load";
  EXPECT_THAT(text, HasSubstr("1,234,567"));
  EXPECT_THAT(text, HasSubstr("2.3 ms"));
  EXPECT_THAT(text, HasSubstr("0x04040000"));
  EXPECT_THAT(text, HasSubstr("12/s"));
  EXPECT_THAT(text, HasSubstr("on card0: it is pinned"));
  EXPECT_THAT(text, ContainsRegex("12/s +file +on card0"));
  EXPECT_THAT(text, ContainsRegex("w0 +2 +runs +its own core +13 %"));
  EXPECT_THAT(text, ContainsRegex("w1 +3 +stuck +w0 +-"));
}

TEST(CtlPlace, settings_that_differ_from_the_usual_ones_are_shown) {
  const auto text = [](const Json& settings) {
    return render_placement(Json::parse(Json{{"settings", settings}}.dump()));
  };
  EXPECT_THAT(text({{"mode", "static"}, {"ratio", 50}, {"period_ms", 500}, {"consolidate", true}}),
              HasSubstr("settings: ratio 50, consolidate true\n"));
  EXPECT_THAT(text({{"mode", "ratio"}, {"ratio", 50}, {"ratio_of", "load"}, {"consolidate", false}}),
              Not(HasSubstr("settings:")));
}

TEST(CtlPlace, set_answers_with_what_it_changed) {
  EXPECT_EQ(render_settings({{"consolidate", false}, {"mode", "spill"}},
                            {{"mode", "spill"}, {"consolidate", false}, {"ratio", 3}}),
            "consolidate is now false\nmode is now spill\n");
}

TEST(CtlPlace, a_long_reason_is_whole) {
  const std::string why =
      "on w0: the bearers on the card are busier, or not less busy by the hysteresis (load 50/s; the coldest there "
      "60/s)";
  EXPECT_THAT(render_placement({{"bearers", {{{"id", 1U}, {"why", why}}}}}), HasSubstr(why));
  EXPECT_EQ(render_moves({{"moved", 0U}, {"there", 0U}, {"stayed", {{{"id", 1U}, {"why", why}}}}}),
            "0 moved, 0 were there already\n0x00000001 stayed: " + why + "\n");
}

TEST(CtlPlace, a_share_of_nothing_is_none) {
  const Json shown{
      {"settings", {{"mode", "static"}}}, {"now", {{"bearers", 0}, {"load", 0.0}}}, {"moves", Json::object()}};
  const std::string text = render_placement(shown);
  EXPECT_THAT(text, HasSubstr("static"));
  EXPECT_THAT(text, Not(HasSubstr("%")));
  EXPECT_THAT(text, Not(HasSubstr("lives on"))) << "no bearer was asked for";
}

TEST(CtlPlace, what_moved_and_why_others_stayed) {
  Json moves{{"moved", 2},        {"there", 1},    {"stayed", Json::array()},
             {"with_packets", 1}, {"packets", 17}, {"longest_hold_us", 1500}};
  EXPECT_EQ(render_moves(Json::parse(moves.dump())),
            "2 moved, 1 were there already; packets of 1 waited, 17 in all, 1.5 ms at most\n");
  moves["with_packets"] = 0;
  EXPECT_EQ(render_moves(Json::parse(moves.dump())), "2 moved, 1 were there already\n");
  moves["moved"] = 0;
  for (unsigned i = 0; i < 13; ++i) moves["stayed"].push_back({{"id", 16 + i}, {"refused", true}, {"why", "no card"}});
  const std::string text = render_moves(Json::parse(moves.dump()));
  EXPECT_THAT(text, HasSubstr("0 moved, 1 were there already\n0x00000010 stayed: no card\n"));
  EXPECT_THAT(text, HasSubstr("0x00000019 stayed: no card\nand 3 more stayed\n"));
  EXPECT_THAT(text, Not(HasSubstr("0x0000001a")));
}

TEST(CtlPlace, an_answer_of_another_kind_is_no_crash) {
  for (const char* text : {"{}", R"({"now": 3, "moves": [], "settings": "x", "bearers": 7})",
                           R"({"bearers": [1, null, {"id": "x", "load": "y", "why": 3}]})"})
    EXPECT_THAT(render_placement(Json::parse(text)), HasSubstr("mode")) << text;
  for (const char* text : {"{}", R"({"moved": "x", "stayed": 3})", R"({"stayed": [1, null, {"id": "x", "why": 3}]})"})
    EXPECT_THAT(render_moves(Json::parse(text)), HasSubstr("moved")) << text;
}

}  // namespace
}  // namespace splitplane::app

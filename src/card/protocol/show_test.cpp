#include "card/protocol/show.h"

#include <gmock/gmock.h>

namespace splitplane::app {
namespace {

TEST(CardShow, a_host_reads_what_a_card_writes) {
  Json answer;
  write_show(answer, {.boot = "b1",
                      .program = "gnb-clone",
                      .features = "clone",
                      .lookup = "teid",
                      .vfs = {"n3", "air"},
                      .punt_n3 = 0,
                      .punt_air = 1});
  const CardShow show = read_show(answer);
  EXPECT_EQ(show.boot, "b1");
  EXPECT_EQ(show.program, "gnb-clone");
  EXPECT_EQ(show.features, "clone");
  EXPECT_EQ(show.lookup, "teid");
  EXPECT_THAT(show.vfs, testing::ElementsAre("n3", "air"));
  EXPECT_EQ(show.punt_n3, 0U);
  EXPECT_EQ(show.punt_air, 1U);
}

TEST(CardShow, a_program_without_features_says_null) {
  Json answer;
  write_show(answer, {.boot = "b1", .program = "l2fwd", .features = "", .lookup = "teid", .vfs = {}});
  EXPECT_TRUE(answer.at("features").is_null());
  EXPECT_EQ(read_show(answer).features, "");
}

TEST(CardShow, what_is_missing_or_of_another_type_reads_as_empty) {
  for (const Json& answer : {Json::object(), Json{{"boot", 1}, {"vfs", "a"}, {"punt_n3", -1}, {"punt_air", "0"}}}) {
    const CardShow show = read_show(answer);
    EXPECT_EQ(show.boot, "");
    EXPECT_THAT(show.vfs, testing::IsEmpty());
    EXPECT_FALSE(show.punt_n3);
    EXPECT_FALSE(show.punt_air);
  }
}

TEST(CardShow, punts_are_summed_over_their_reasons) {
  const auto shown = [](const char* answer) { return punts_shown(Json::parse(answer)); };
  EXPECT_EQ(shown(R"({"punts": {"arp": 2, "ip_options": 3, "wrong": "4", "negative": -1}})"), 5U);
  EXPECT_EQ(shown(R"({"punts": {}})"), 0U);
  EXPECT_FALSE(shown(R"({"punts": 7})"));
  EXPECT_FALSE(shown("{}"));
}

}  // namespace
}  // namespace splitplane::app

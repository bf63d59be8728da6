#include "gnb/place/place_methods.h"

#include "gnb/place/test_card.h"

namespace splitplane::gnb {
namespace {

using ::testing::HasSubstr;

class PlaceMethodsTest : public test::PlaceTest {
 protected:
  void SetUp() override {
    PlaceTest::SetUp();
    make_with_card(true);
    placing_.emplace(*parts_, placement::Settings{});
    add_place_methods(registry_, *placing_);
  }
  void TearDown() override {
    placing_.reset();
    PlaceTest::TearDown();
  }
  Json call(const std::string& method, const Json& params) {
    return Json::parse(registry_.answer(Json{{"id", 1}, {"method", method}, {"params", params}}.dump()));
  }
  [[nodiscard]] std::string error(const std::string& method, const Json& params) {
    return call(method, params).value("error", "(no error)");
  }

  std::optional<Placing> placing_;
  app::MethodRegistry registry_{[] {}};
};

TEST_F(PlaceMethodsTest, show_says_how_it_is_decided_what_is_now_and_why) {
  const BearerId id = add_bearer();
  const Json shown = call("place.show", {{"ids", {id.value}}})["result"];
  EXPECT_EQ(shown["settings"]["mode"], "static");
  EXPECT_EQ(shown["settings"]["ratio_of"], "bearers");
  ASSERT_EQ(shown["bearers"].size(), 1U);
  EXPECT_EQ(shown["bearers"][0]["id"], id.value);
  EXPECT_EQ(shown["bearers"][0]["place"], "host");
  EXPECT_EQ(shown["bearers"][0]["pinned"], false);
  EXPECT_EQ(shown["bearers"][0]["pinned_by"], "");
  ASSERT_EQ(shown["workers"].size(), 2U);
  EXPECT_EQ(shown["workers"][1]["state"], "runs");
  EXPECT_EQ(shown["now"]["pinned"], 0);
  EXPECT_EQ(shown["moves"]["to_card"], 0);
  EXPECT_TRUE(call("place.show", Json::object())["result"]["bearers"].empty());
}

TEST_F(PlaceMethodsTest, set_changes_what_is_given_and_keeps_the_rest) {
  const Json set = call("place.set", {{"mode", "ratio"}, {"ratio", 40}});
  ASSERT_TRUE(set.contains("result")) << set;
  EXPECT_EQ(set["result"]["ratio"], 40);
  (void)call("place.set", {{"period_ms", 1000}});
  EXPECT_EQ(placing_->settings().mode, placement::Mode::kRatio);
  EXPECT_EQ(placing_->settings().ratio_percent, 40U);
  EXPECT_EQ(placing_->settings().period_ms, 1000U);
}

TEST_F(PlaceMethodsTest, a_wrong_setting_changes_nothing) {
  EXPECT_THAT(error("place.set", {{"mode", "best"}}), HasSubstr("mode: allowed are static, ratio, spill"));
  EXPECT_THAT(error("place.set", {{"mode", "spill"}, {"ratio", 101}}),
              HasSubstr("ratio: allowed is an integer from 0 to 100"));
  EXPECT_THAT(error("place.set", {{"mode", "spill"}, {"consolidation", true}}), HasSubstr("consolidation: unknown"));
  EXPECT_EQ(placing_->settings(), placement::Settings{});
}

TEST_F(PlaceMethodsTest, move_answers_with_what_moved_and_what_stayed) {
  const BearerId id = add_bearer(), there = add_bearer("card0");
  const Json moved = call("place.move", {{"ids", {id.value, there.value, 0x04000077}}, {"to", "card0"}})["result"];
  EXPECT_EQ(moved["moved"], 1);
  EXPECT_EQ(moved["there"], 1);
  ASSERT_EQ(moved["stayed"].size(), 1U);
  EXPECT_EQ(moved["stayed"][0]["id"], 0x04000077);
  EXPECT_EQ(moved["stayed"][0]["refused"], true);
  EXPECT_EQ(moved["stayed"][0]["why"], "there is no such bearer");
  EXPECT_EQ(place_of(id), "card0");
  EXPECT_EQ(call("place.move", {{"ids", {id.value}}, {"to", "host"}})["result"]["moved"], 1);
  EXPECT_EQ(place_of(id), "");
}

TEST_F(PlaceMethodsTest, pins_are_made_and_undone) {
  const BearerId id = add_bearer();
  EXPECT_EQ(call("place.pin", {{"ids", {id.value}}, {"to", "host"}})["result"]["pinned"], 1);
  EXPECT_EQ(placing_->view().pinned, 1U);
  const Json shown = call("place.show", {{"ids", {id.value}}})["result"];
  EXPECT_EQ(shown["bearers"][0]["pinned"], true);
  EXPECT_EQ(shown["bearers"][0]["pinned_by"], "ctl");
  EXPECT_EQ(call("place.unpin", {{"ids", {id.value}}})["result"]["unpinned"], 1);
  EXPECT_EQ(placing_->view().pinned, 0U);
  EXPECT_EQ(call("place.unpin", {{"ids", {id.value}}})["result"]["unpinned"], 0);
}

TEST_F(PlaceMethodsTest, lists_of_the_file_are_no_setting) {
  EXPECT_THAT(error("place.set", {{"pin", Json::array()}}), HasSubstr("pin: unknown"));
  EXPECT_FALSE(call("place.set", Json::object())["result"].contains("pin"));
}

TEST_F(PlaceMethodsTest, a_goal_needs_bearers_and_a_place) {
  for (const char* method : {"place.move", "place.pin"}) {
    EXPECT_THAT(error(method, {{"ids", {1}}}), HasSubstr("to: is missing"));
    EXPECT_THAT(error(method, {{"to", "host"}}), HasSubstr("ids: is missing"));
    EXPECT_THAT(error(method, {{"ids", {1}}, {"to", 7}}), HasSubstr("to: allowed"));
    EXPECT_THAT(error(method, {{"ids", {1, -2}}, {"to", "host"}}), HasSubstr("ids: item 1: allowed is an identity"));
    EXPECT_THAT(error(method, {{"ids", Json(4097, 1)}, {"to", "host"}}), HasSubstr("at most 4096 items"));
    EXPECT_THAT(error(method, {{"ids", {1}}, {"to", "card9"}}),
                HasSubstr("to: this host has no card 'card9'; allowed: host, or a card"));
  }
  EXPECT_THAT(error("place.unpin", Json::object()), HasSubstr("ids: is missing"));
  EXPECT_THAT(error("place.show", {{"ids", {"x"}}}), HasSubstr("ids: item 0: allowed is an identity"));
}

}  // namespace
}  // namespace splitplane::gnb

#include "runtime/tap_methods.h"

#include <gmock/gmock.h>

namespace splitplane::app {
namespace {

using ::testing::HasSubstr;

Expected<Json> on(const Json& request) {
  Params params(request);
  return tap_on([](const tap::Settings& settings) -> Expected<Json> { return to_json(settings); })(params);
}

TEST(TapMethods, a_tap_is_shown_with_the_keys_that_made_it) {
  const Json request{{"name", "t"},      {"port", "air"}, {"worker", "w0"},    {"file", "t.pcapng"},
                     {"view", "rlc-nr"}, {"max_mb", 5U},  {"files", 3U},       {"snap", 100U},
                     {"buffers", 255U},  {"bearer", 7U},  {"direction", "out"}};
  const auto shown = on(request);
  ASSERT_TRUE(shown) << shown.error().message;
  EXPECT_EQ(*shown, request);
}

TEST(TapMethods, what_was_not_said_has_its_default_or_is_left_out) {
  const auto shown = on({{"port", "air"}, {"file", "t.pcapng"}});
  ASSERT_TRUE(shown) << shown.error().message;
  EXPECT_EQ(shown->at("direction"), "both");
  EXPECT_EQ(shown->at("view"), "ethernet");
  EXPECT_EQ(shown->at("buffers"), 8191);
  for (const char* key : {"max_mb", "files", "worker", "bearer"}) EXPECT_FALSE(shown->contains(key)) << key;
}

TEST(TapMethods, a_wrong_member_is_named) {
  EXPECT_THAT(on({{"port", "air"}}).error().message, HasSubstr("file"));
  EXPECT_THAT(on({{"port", "air"}, {"file", "f"}, {"view", "pdcp"}}).error().message,
              HasSubstr("ethernet, rlc-nr, pdcp-nr"));
}

}  // namespace
}  // namespace splitplane::app

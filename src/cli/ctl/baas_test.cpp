// `ctl baas` for people, from answers as the gNB gives them and from ones that it never would.
#include "cli/ctl/baas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace splitplane::app {
namespace {

using testing::HasSubstr;

TEST(CtlBaas, who_serves_and_what_each_worker_holds) {
  const Json service{
      {"state", "serves"},
      {"process", 4711},
      {"since_s", 12.345},
      {"begun", 2},
      {"ended", 1},
      {"workers", {{{"name", "w0"}, {"held", 12}, {"told", 1234567}, {"told_again", 8}, {"status_lost", 3}}}}};
  const std::string text = render_service(Json::parse(service.dump()));
  EXPECT_THAT(text, HasSubstr("serves"));
  EXPECT_THAT(text, HasSubstr("4711"));
  EXPECT_THAT(text, HasSubstr("12.3"));
  EXPECT_THAT(text, HasSubstr("1,234,567"));
}

TEST(CtlBaas, an_answer_of_another_kind_is_no_crash) {
  for (const char* text : {"{}", R"({"workers": 3})", R"({"workers": [1, null, {"held": "x"}], "since_s": "y"})"})
    EXPECT_THAT(render_service(Json::parse(text)), HasSubstr("state"));
}

}  // namespace
}  // namespace splitplane::app

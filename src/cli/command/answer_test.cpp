#include "cli/command/answer.h"

#include <gtest/gtest.h>

namespace splitplane::app {
namespace {

TEST(Answer, GivesAMemberOrNothing) {
  const Json answer = Json::parse(R"({"port": {"in": 7}})");
  EXPECT_EQ(number(member(answer, "port"), "in"), 7U);
  EXPECT_EQ(member(answer, "worker"), nothing());
  EXPECT_EQ(member(Json("text"), "port"), nothing());
}

TEST(Answer, TakesNothingButAnUnsignedNumberForANumber) {
  const Json answer = Json::parse(R"({"negative": -1, "text": "7", "fraction": 1.5})");
  for (const auto* key : {"negative", "text", "fraction", "absent"}) EXPECT_EQ(number(answer, key), 0U) << key;
}

}  // namespace
}  // namespace splitplane::app

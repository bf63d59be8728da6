#include "control/shallow_json.h"

#include <gtest/gtest.h>

#include <string>

namespace splitplane {
namespace {

std::string arrays(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(ShallowJson, a_value_is_taken_up_to_the_depth_and_no_deeper) {
  EXPECT_EQ(parse_shallow_json(arrays(32)).dump(), arrays(32));
  EXPECT_TRUE(parse_shallow_json(arrays(33)).is_discarded());
  EXPECT_EQ(parse_shallow_json(R"({"a":{"b":1}})", 2).dump(), R"({"a":{"b":1}})");
  EXPECT_TRUE(parse_shallow_json(R"({"a":{"b":[]}})", 2).is_discarded());
  EXPECT_EQ(parse_shallow_json("7", 0), 7);
}

TEST(ShallowJson, brackets_in_strings_do_not_count) {
  const std::string text = R"({"a[[[":"[[\"[[","b":"\\"})";
  EXPECT_EQ(parse_shallow_json(text, 1).dump(), text);
  EXPECT_TRUE(parse_shallow_json(R"({"a":"\\","b":[[]]})", 2).is_discarded());
  EXPECT_TRUE(parse_shallow_json("]]]" + arrays(34)).is_discarded());
}

TEST(ShallowJson, a_million_levels_cost_no_stack) {
  EXPECT_TRUE(parse_shallow_json(arrays(1'000'000)).is_discarded());
  EXPECT_TRUE(parse_shallow_json(R"({"error":)" + arrays(1'000'000) + "}").is_discarded());
}

TEST(ShallowJson, what_is_no_json_is_discarded) {
  for (const char* text : {"", "{", "[1,]", "nul", "{} {}"})
    EXPECT_TRUE(parse_shallow_json(text).is_discarded()) << text;
}

}  // namespace
}  // namespace splitplane

// Log records as JSON lines.
#include "base/log_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

namespace splitplane::log {
namespace {

std::string line_of(const std::string& text, Fields fields = {}) {
  JsonFormatter formatter;
  const spdlog::details::log_msg record(spdlog::log_clock::time_point(std::chrono::milliseconds(1'700'000'000'042)), {},
                                        "splitplane", spdlog::level::warn, text);
  spdlog::memory_buf_t out;
  fields_of_record = &fields;
  formatter.format(record, out);
  fields_of_record = nullptr;
  return {out.data(), out.size()};
}

TEST(LogJson, a_record_is_one_object_on_one_line) {
  EXPECT_EQ(line_of("port n3: gone"),
            R"({"time":"2023-11-14T22:13:20.042Z","level":"warning","message":"port n3: gone"})"
            "\n");
}

TEST(LogJson, fields_are_members_behind_the_message) {
  EXPECT_EQ(line_of("gone", {{"port", "n3"}, {"queues", std::uint64_t{2}}}),
            R"({"time":"2023-11-14T22:13:20.042Z","level":"warning","message":"gone","port":"n3","queues":2})"
            "\n");
}

TEST(LogJson, any_octets_give_valid_json_on_one_line) {
  std::string every;
  for (int c = 0; c < 256; ++c) every += static_cast<char>(c);
  for (const std::string& text : {every, std::string("a\nb\r\t\"\\"), std::string("\xff\xfe\xc3"), std::string()}) {
    const std::string line = line_of(text, {{"odd", text}});
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
    const auto parsed = nlohmann::json::parse(line, nullptr, false);
    ASSERT_TRUE(parsed.is_object()) << line;
    EXPECT_EQ(parsed["odd"], parsed["message"]);
  }
  EXPECT_EQ(nlohmann::json::parse(line_of("a\nb"))["message"], "a\nb");
}

}  // namespace
}  // namespace splitplane::log

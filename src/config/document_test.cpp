#include "config/document.h"

#include <gmock/gmock.h>

namespace splitplane::app {
namespace {

using ::testing::HasSubstr;

TEST(Document, what_is_no_readable_file_is_refused_in_one_line) {
  for (const auto& [path, why] : {std::pair{"/no/such/file.yaml", "No such file or directory"},
                                  {"/tmp", "is a directory"},
                                  {"/dev/null", "is a device"},
                                  {"", "No such file or directory"}}) {
    const auto document = Document::load(path);
    ASSERT_FALSE(document) << path;
    EXPECT_THAT(document.error().message, HasSubstr(why));
    EXPECT_THAT(document.error().message, HasSubstr("; allowed: "));
  }
}

// A program that knows one key.
struct Kettle : Source {
  std::uint64_t litres = 0;
};

void read_kettle(const YamlValue& top, Kettle& kettle) {
  kettle.litres = top.map(std::array<std::string_view, 1>{"litres"}).required("litres").integer(1, 5);
}

std::optional<Finding> check_kettle(const Kettle& kettle) {
  if (kettle.litres != 4) return std::nullopt;
  return Finding{"litres", "is 4; allowed: another number"};
}

std::string fault_of(const std::string& text) {
  const auto kettle = Document::parse(text, "k.yaml").and_then([](const Document& document) {
    return make_config<Kettle>(document, read_kettle, check_kettle);
  });
  return kettle ? "" : kettle.error().message;
}

TEST(Document, a_programs_reader_and_its_checks_name_the_line) {
  EXPECT_EQ(fault_of("litres: 3"), "");
  EXPECT_EQ(fault_of("# for tea\nlitres: 7"), "k.yaml:2: litres: is 7; allowed: an integer from 1 to 5");
  EXPECT_EQ(fault_of("# for tea\nlitres: 4"), "k.yaml:2: litres: is 4; allowed: another number");
  EXPECT_THAT(fault_of("{}"), HasSubstr("k.yaml:1: litres: is missing"));
}

TEST(Document, its_top_level_keys_are_known_before_it_is_read) {
  const auto document = Document::parse("litres: 3\nports: {}", "k.yaml");
  ASSERT_TRUE(document);
  EXPECT_TRUE(document->has("ports"));
  EXPECT_FALSE(document->has("workers"));
  EXPECT_FALSE(Document::parse("- litres", "k.yaml")->has("litres"));
}

}  // namespace
}  // namespace splitplane::app

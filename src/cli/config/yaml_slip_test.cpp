// Tests of config/yaml/yaml_slip.h by whole files, as any_config.h reads them.
#include "config/yaml/yaml_slip.h"

#include <gmock/gmock.h>

#include "cli/config/any_config.h"

namespace splitplane::app {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kGood =
    "file_prefix: a\n"
    "ports:\n"
    "  n3: {device: \"net_null0,no-rx=1\"}  # a comment: with a colon\n"
    "  air:\n"
    "    device: net_null1\n"
    "n3:\n"
    "  - port: n3\n"
    "    ipv4: 10.0.0.1\n"
    "air: [{port: air}]\n"
    "workers:\n"
    "  w0: {function: gnb, core: 0,\n"
    "       n3: n3, air: air}\n";

std::string broken(const std::string& from, const std::string& to) {
  std::string text = kGood;
  text.replace(text.find(from), from.size(), to);
  return text;
}

std::string error_of(const std::string& text) {
  const auto config = parse_any(text, "c.yaml");
  return config ? "good" : config.error().message;
}

TEST(YamlSlip, the_file_is_good_without_one) {
  EXPECT_EQ(error_of(kGood), "good");
}

TEST(YamlSlip, a_tab_that_indents_is_named_with_its_line) {
  EXPECT_THAT(error_of(broken("    device: net_null1", "\tdevice: net_null1")),
              StartsWith("c.yaml:5: file: a TAB indents it"));
  EXPECT_THAT(error_of(broken("    ipv4:", "  \tipv4:")), StartsWith("c.yaml:8: file: a TAB indents it"));
  EXPECT_THAT(error_of(broken("  air:\n", "\tair:\n")), StartsWith("c.yaml:4: file: a TAB indents it"));
}

TEST(YamlSlip, a_missing_colon_is_named_with_its_line) {
  EXPECT_THAT(error_of(broken("file_prefix: a", "file_prefix a")),
              StartsWith("c.yaml:1: file: there is no colon behind 'file_prefix'"));
  EXPECT_THAT(error_of(broken("ports:\n", "ports\n")), StartsWith("c.yaml:2: file: there is no colon behind 'ports'"));
  EXPECT_THAT(error_of(broken("  air:\n", "  air\n")), StartsWith("c.yaml:4: file: there is no colon behind 'air'"));
  EXPECT_THAT(error_of(broken("device: net_null1", "device net_null1")),
              StartsWith("c.yaml:5: file: there is no colon behind 'device'"));
  EXPECT_THAT(error_of(broken("- port: n3", "- port n3")),
              StartsWith("c.yaml:7: file: there is no colon behind 'port'"));
  EXPECT_THAT(error_of(broken("    ipv4: 10", "    ipv4 10")),
              StartsWith("c.yaml:8: file: there is no colon behind 'ipv4'"));
  EXPECT_THAT(error_of(broken("workers:\n", "workers\n")),
              StartsWith("c.yaml:10: file: there is no colon behind 'workers'"));
}

TEST(YamlSlip, a_colon_without_a_blank_behind_it_is_named_with_its_line) {
  EXPECT_THAT(error_of(broken("device: net_null1", "device:net_null1")),
              StartsWith("c.yaml:5: file: there is no blank behind the colon of 'device'"));
}

TEST(YamlSlip, within_braces_the_key_is_named) {
  EXPECT_THAT(error_of(broken("function: gnb", "function gnb")),
              HasSubstr("c.yaml:11: workers.w0.function gnb: there is no colon behind 'function'"));
  EXPECT_THAT(error_of(broken("core: 0", "core:0")), HasSubstr("there is no blank behind the colon of 'core'"));
}

TEST(YamlSlip, other_faults_keep_their_own_sentence) {
  EXPECT_THAT(error_of(broken("core: 0", "core: x")), StartsWith("c.yaml:11: workers.w0.core: is the text 'x'"));
  EXPECT_THAT(error_of(broken("workers:", "wrkers:")), HasSubstr("unknown key, did you mean 'workers'?"));
  EXPECT_THAT(error_of(broken("{port: air}", "{port: air")), HasSubstr("is no YAML"));
}

TEST(YamlSlip, any_text_is_read_without_harm) {
  for (const char* text :
       {"", "\n\n", "\t", "-", "- ", "- - -", "\"", "'", "{[", "}]", "a: \"\\", "#", ":", "\xff\xfe"}) {
    for (int line = 0; line < 4; ++line) (void)find_yaml_slip(text, line);
  }
}

}  // namespace
}  // namespace splitplane::app

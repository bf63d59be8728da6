#include "runtime/config/read.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/paths.h"
#include "config/yaml_fields.h"

namespace splitplane::app {
namespace {

using ::testing::HasSubstr;

Expected<ProgramConfig> read(const std::string& text, unsigned keys) {
  ProgramConfig config;
  const auto good = Document::parse(text, "f").and_then([&](const Document& document) {
    return document.read(
        config, [&](const YamlValue& top) { read_program(top.map(program_fields(keys).names()), keys, config); });
  });
  if (!good) return tl::unexpected(good.error());
  return config;
}

TEST(ProgramFile, every_key_arrives_where_it_belongs) {
  const auto config = read(
      "file_prefix: x\ncontrol: /run/x.sock\nlog_level: warn\nlog_format: json\nsysfs_root: /s\n"
      "metrics: {listen: '[::1]:9464', bearers: 3}\nmemory: {megabytes: 99}\nports: {p: {device: net_null0, mtu: "
      "900}}\n",
      kServed | kObserved | kPorted);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->file_prefix, "x");
  EXPECT_EQ(config->control, "/run/x.sock");
  EXPECT_EQ(config->log_level, "warn");
  EXPECT_TRUE(config->log_json);
  EXPECT_EQ(config->sysfs_root, "/s");
  EXPECT_EQ(to_string(*config->metrics), "[::1]:9464");
  EXPECT_EQ(config->metrics->bearers, 3U);
  EXPECT_EQ(config->memory.megabytes, 99U);
  EXPECT_EQ(config->ports.at(0).mtu, 900);
  EXPECT_EQ(config->lines.at("memory"), 7);
}

TEST(ProgramFile, a_program_has_the_keys_of_its_kind_only) {
  EXPECT_THAT(read("log_format: json\nports: {p: {device: net_null0}}\n", kPorted).error().message,
              HasSubstr("f:1: log_format: unknown key"));
  EXPECT_THAT(read("sysfs_root: /s\nports: {p: {device: net_null0}}\n", kServed | kPorted).error().message,
              HasSubstr("f:1: sysfs_root: unknown key"));
  EXPECT_THAT(read("file_prefix: x\n", kServed | kPorted).error().message, HasSubstr("ports: is missing"));
  EXPECT_TRUE(read("file_prefix: x\n", kServed));
  EXPECT_THAT(read("ports: {p: {device: net_null0}}\n", kServed).error().message, HasSubstr("ports: unknown key"));
}

TEST(ProgramFile, its_control_socket_is_found_whatever_else_it_says) {
  const std::string path = fmt::format("/tmp/splitplane-place-{}.yaml", ::getpid());
  std::ofstream(path) << "file_prefix: y\nports: 7\n";
  EXPECT_EQ(control_of_file(path), control_path("y"));
  std::ofstream(path) << "control: /run/z.sock\nports: 7\n";
  EXPECT_EQ(control_of_file(path), "/run/z.sock");
  std::ofstream(path) << "file_prefix: '?'\nports: 7\n";
  EXPECT_THAT(control_of_file(path).error().message, HasSubstr(":1: file_prefix: '?' is no name"));
  std::ofstream(path) << "file_prefx: y\nports: 7\n";
  EXPECT_THAT(control_of_file(path).error().message,
              HasSubstr(":1: file_prefx: unknown key, did you mean 'file_prefix'?"));
  std::ofstream(path) << "services: 7\n";
  EXPECT_THAT(control_of_file(path).error().message, HasSubstr("ports: is missing"));
  std::filesystem::remove(path);
  EXPECT_FALSE(control_of_file(path));
}

TEST(ProgramFile, policies_have_their_settings_as_keys_for_the_schema) {
  const auto sections = program_sections();
  const auto budget = std::ranges::find(sections, "policy_budget", &fields::Section::name);
  ASSERT_NE(budget, sections.end());
  EXPECT_EQ(budget->keys.front().field->name, "kind");
  EXPECT_TRUE(budget->keys.front().required);
  EXPECT_THAT(fields::table_of(*budget), HasSubstr("| `latency_us` | 80 | "));
}

}  // namespace
}  // namespace splitplane::app

#include "cli/config/any_config.h"

#include <gmock/gmock.h>

namespace splitplane::app {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kPort = "file_prefix: x\nports: {p: {device: net_null0}}\n";

std::string fault_of(const std::string& text) {
  const auto config = parse_any(text, "f");
  return config ? "" : config.error().message;
}

TEST(AnyConfig, the_sections_tell_which_command_a_file_is_for) {
  const auto command = [](const std::string& section) {
    const auto config = parse_any(kPort + section, "f");
    return config ? std::string(command_of(*config)) : config.error().message;
  };
  EXPECT_EQ(command("workers: {w: {function: l2fwd, core: 0, rx: p, tx: p}}"), "run");
  EXPECT_EQ(command("ue: {port: p, gnb_control: /run/c.sock}"), "ue");
  EXPECT_EQ(std::string(command_of(*parse_any("phy: {}\nue: {gnb_control: /run/c.sock}\n", "f"))), "phy");
  EXPECT_EQ(command("card: {program: l2fwd, n3: p}"), "card");
  EXPECT_EQ(std::string(command_of(*parse_any("ports: {a: {device: net_null0}, b: {device: net_null1}}\n"
                                              "guard: {client: a, server: b}\n",
                                              "f"))),
            "guard");
  EXPECT_EQ(command("gen: {port: p, rate: 5, replay: x.pcap}\nsink: {port: p}"), "gen");
  EXPECT_EQ(command("sink: {port: p}"), "sink");
}

TEST(AnyConfig, its_shared_part_is_that_of_the_program) {
  const auto config = parse_any(kPort + "sink: {port: p}", "f");
  ASSERT_TRUE(config);
  EXPECT_EQ(shared_part(*config).file, "f");
  EXPECT_EQ(shared_part(*config).file_prefix, "x");
  EXPECT_EQ(shared_part(*config).ports.size(), 1U);
}

TEST(AnyConfig, a_key_of_another_program_and_one_of_none_are_refused) {
  EXPECT_THAT(
      fault_of(kPort + "instance: 1\nsink: {port: p}"),
      StartsWith("f:3: instance: does not belong in a file for `splitplane gen` or `splitplane sink`; allowed: "));
  EXPECT_THAT(fault_of(kPort + "ue: {port: p, gnb_control: /run/c.sock}\nworkers: {}"),
              HasSubstr("f:4: workers: does not belong in a file for `splitplane ue`"));
  EXPECT_THAT(fault_of(kPort + "ue: {gnb_control: /run/c.sock}\nphy: {}"),
              HasSubstr("f:2: ports: does not belong in a file for `splitplane phy`"));
  EXPECT_THAT(fault_of(kPort + "guard: {client: p, server: p}\nworkers: {}"),
              HasSubstr("f:4: workers: does not belong in a file for `splitplane guard`"));
  EXPECT_THAT(fault_of(kPort + "snk: {port: p}"), StartsWith("f:3: snk: unknown key, did you mean 'sink'?"));
  EXPECT_THAT(fault_of(kPort), StartsWith("f:1: workers: is missing"));
}

}  // namespace
}  // namespace splitplane::app

#include "gnb/config/full_mode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gnb/config/test_read.h"

namespace splitplane::app {
namespace {

using test::parse;
using testing::HasSubstr;

const std::string kHead =
    "file_prefix: t\njournal: /run/t.journal\nkey_file: /run/t.keys\nmemory: {hugepages: never}\n";
const std::string kPorts =
    "ports: {n3: {device: net_null0}, air: {device: net_null1}}\n"
    "n3: [{port: n3, ipv4: 10.100.0.1}]\nair: [{port: air}]\n";
const std::string kWorker = "workers:\n  w: {function: gnb, core: 0, features: full, n3: n3, air: air}\n";

std::string refusal(const std::string& text) {
  const auto config = parse(text, "t.yaml");
  return config ? "" : config.error().message;
}
std::string with_bearer(const std::string& keys) {
  return kHead + kPorts + kWorker + "bearers: [{upf: 10.100.0.2, ul_teid: 1, " + keys + "}]\n";
}

TEST(FullMode, a_worker_with_keys_and_journal_is_accepted) {
  const auto config = parse(with_bearer("security: {key: 1}"), "t.yaml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->workers[0].features, datapath::FeatureSet::full);
}

TEST(FullMode, without_keys_or_journal_it_is_refused_at_the_worker) {
  EXPECT_THAT(refusal("journal: /run/t.journal\n" + kPorts + kWorker),
              HasSubstr("workers.w.features: is full, and PDCP needs keys; allowed: with key_file"));
  EXPECT_THAT(refusal("journal: none\nkey_file: /run/t.keys\n" + kPorts + kWorker),
              HasSubstr("workers.w.features: is full, and PDCP needs COUNTs that go on after a restart"));
}

TEST(FullMode, a_bearer_without_security_is_refused) {
  EXPECT_THAT(refusal(with_bearer("rlc: um12")),
              HasSubstr("bearers[0].security: must be there in full mode, where PDCP puts in order what RLC delivers"));
  EXPECT_EQ(refusal(with_bearer("rlc: um12, security: {key: 1, cipher: nea0, integrity: none}")), "");
}

TEST(FullMode, limits_of_octets_and_marks_are_refused) {
  EXPECT_THAT(refusal(with_bearer("security: {key: 1}, am: {max_unacked_octets: 100000}")),
              HasSubstr("bearers[0].am.max_unacked_octets: does not count in full mode; allowed: 0"));
  EXPECT_THAT(refusal(with_bearer("security: {key: 1}, ecn: {}")), HasSubstr("bearers[0].ecn"));
}

TEST(FullMode, a_dispatcher_before_it_is_refused) {
  EXPECT_THAT(refusal(kHead + kPorts + kWorker + "  d: {function: dispatch, core: 1, n3: n3, air: air, to: [w]}\n"),
              HasSubstr("workers.w.features: is full, and a dispatch worker feeds it"));
}

TEST(FullMode, a_card_before_it_is_refused) {
  EXPECT_THAT(
      refusal(kHead + kPorts + kWorker + "cards: {c: {control: /run/c.sock, vfs: [n3, air], n3: n3, air: air}}\n"),
      HasSubstr("workers.w.features: is full, and card c is before its ports"));
}

TEST(FullMode, it_has_no_copies_and_keeps_nothing_for_a_buffering_service) {
  std::string text = kHead + kPorts + kWorker;
  text.replace(text.find("features: full"), 14, "features: full, baas: inline");
  EXPECT_THAT(refusal(text), HasSubstr("baas: stands with features that have no copies; allowed: none"));
  EXPECT_THAT(refusal(kHead + kPorts + kWorker + "  c: {function: copies, core: 1, from: [w]}\n"),
              HasSubstr("worker w makes no copies; allowed: one with features clone"));
}

}  // namespace
}  // namespace splitplane::app

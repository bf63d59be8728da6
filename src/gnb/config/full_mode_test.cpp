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
const std::string kPorts = "ports: {n3: {device: net_null0}}\nn3: [{port: n3, ipv4: 10.100.0.1}]\n";
// Of workers in header mode, which are there too.
const std::string kAirPort =
    "ports: {n3: {device: net_null0}, air: {device: net_null1}}\n"
    "n3: [{port: n3, ipv4: 10.100.0.1}]\nair: [{port: air}]\n";
const std::string kWorker = "workers:\n  w: {function: gnb, core: 0, features: full, n3: n3}\n";

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
  EXPECT_THAT(refusal(kHead + kAirPort + kWorker + "  d: {function: dispatch, core: 1, n3: n3, air: air, to: [w]}\n"),
              HasSubstr("workers.w.features: is full, and a dispatch worker feeds it"));
}

TEST(FullMode, a_card_before_it_is_refused) {
  EXPECT_THAT(
      refusal(kHead + kAirPort + kWorker + "cards: {c: {control: /run/c.sock, vfs: [n3, air], n3: n3, air: air}}\n"),
      HasSubstr("workers.w.features: is full, and card c is before its ports"));
}

TEST(FullMode, it_has_no_copies_and_keeps_nothing_for_a_buffering_service) {
  std::string text = kHead + kPorts + kWorker;
  text.replace(text.find("features: full"), 14, "features: full, baas: inline");
  EXPECT_THAT(refusal(text), HasSubstr("baas: stands with features that have no copies; allowed: none"));
  EXPECT_THAT(refusal(kHead + kPorts + kWorker + "  c: {function: copies, core: 1, from: [w]}\n"),
              HasSubstr("worker w makes no copies; allowed: one with features clone"));
}

std::string with_phy(const std::string& keys, const std::string& more = "") {
  return kHead + kPorts + "workers:\n  w: {function: gnb, core: 0, features: full, n3: n3, shards: 0-127, phy: {" +
         keys + "}}\n" + more;
}

TEST(FullMode, it_has_no_air_port_and_the_others_need_one) {
  std::string text = kHead + kAirPort + kWorker;
  text.replace(text.find("n3: n3}"), 7, "n3: n3, air: air}");
  EXPECT_THAT(refusal(text), HasSubstr("air: stands with features: full, which has no header mode; allowed: without"));
  EXPECT_THAT(refusal(kHead + kAirPort + "workers:\n  w: {function: gnb, core: 0, n3: n3}\n"), HasSubstr("air"));
}

TEST(FullMode, a_phy_has_defaults_and_keys) {
  const auto config = parse(with_phy(""), "t.yaml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->workers[0].phy, PhyConfig{});
  const auto other = parse(with_phy("address: 10.0.0.2, p5_port: 5, local: 10.0.0.1, numerology: 3, prbs: 24, "
                                    "max_grants: 2, lead_slots: 7, feedback_slots: 8"),
                           "t.yaml");
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(other->workers[0].phy->address.to_string(), "10.0.0.2");
  EXPECT_EQ(other->workers[0].phy->prbs, 24);
  EXPECT_EQ(other->workers[0].phy->lead_slots, 7);
  EXPECT_FALSE(parse(kHead + kPorts + kWorker, "t.yaml")->workers[0].phy);
}

TEST(FullMode, a_phy_that_cannot_be_is_refused) {
  EXPECT_THAT(refusal(with_phy("numerology: 4")), HasSubstr("workers.w.phy.numerology"));
  EXPECT_THAT(refusal(with_phy("feedback_slots: 9")), HasSubstr("allowed: an integer from 1 to 8"));
  EXPECT_THAT(refusal(with_phy("prbs: 24, max_grants: 8")),
              HasSubstr("workers.w.phy.max_grants: a slot of 24 PRBs has room for 4 DCIs of both directions; "
                        "allowed: at most 2, or more prbs"));
  EXPECT_THAT(refusal(with_phy("prbs: 12, max_grants: 1")),
              HasSubstr("workers.w.phy.max_ues: with request_slots 20 a slot has 52 chances to ask for a grant and 34 "
                        "places for them; allowed: at most 680, or more request_slots"));
  EXPECT_THAT(refusal(with_phy("max_ues: 8192")), HasSubstr("workers.w.phy.max_ues"));
  EXPECT_EQ(refusal(with_phy("max_ues: 8192, request_slots: 80")), "");
  EXPECT_THAT(refusal(with_phy("address: 'fd00::1'")),
              HasSubstr("workers.w.phy.local: 127.0.0.1 is of another family than the PHY's address fd00::1"));
  EXPECT_THAT(refusal(with_phy("local_p7_port: 7711")),
              HasSubstr("workers.w.phy.local_p7_port: 127.0.0.1 port 7711 is workers.w.phy.local_p5_port too"));
  EXPECT_THAT(refusal(kHead + kAirPort + "workers:\n  w: {function: gnb, core: 0, n3: n3, air: air, phy: {}}\n"),
              HasSubstr("phy: stands with features that have no MAC; allowed: with features: full"));
}

TEST(FullMode, two_workers_do_not_share_a_phy) {
  const std::string second = "  v: {function: gnb, core: 1, features: full, n3: m3, shards: 128-255, phy: {}}\n";
  std::string text = with_phy("", second);
  text.replace(text.find("n3: {device: net_null0}"), 23, "n3: {device: net_null0}, m3: {device: net_null1}");
  text.replace(text.find("ipv4: 10.100.0.1}"), 17, "ipv4: 10.100.0.1}, {port: m3, ipv4: 10.101.0.1}");
  EXPECT_THAT(refusal(text), HasSubstr("workers.v.phy.p5_port: 127.0.0.1 port 7701 is workers.w.phy.p5_port too"));
}

}  // namespace
}  // namespace splitplane::app

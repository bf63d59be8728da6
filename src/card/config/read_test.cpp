#include "card/config/read.h"

#include <gmock/gmock.h>

namespace splitplane::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kPorts =
    "ports:\n  n3: {device: net_null0}\n  vf: {device: \"net_vhost0,iface=/run/v,queues=2\", rx_queues: 2, tx_queues: "
    "2}\n"
    "  air: {device: net_null1}\n";

Expected<CardConfig> card_of(const std::string& keys) {
  return Document::parse(std::string(kPorts) + "card: {n3: n3, air: air, vfs: [vf], " + keys + "}\n", "f")
      .and_then(read_card);
}

std::string fault_of(const std::string& keys) {
  const auto card = card_of(keys);
  return card ? "" : card.error().message;
}

TEST(CardFile, the_keys_of_a_program_arrive_where_they_belong) {
  const auto card = card_of(
      "program: gnb, name: c7, features: mat, cores: [1, 3], punt_air: vf, max_bearers: 99, numa: 1, "
      "policy: {kind: yield, sleep_us: 7}, schedule: fifo, fifo_priority: 3, verify_udp_checksum: true");
  ASSERT_TRUE(card) << card.error().message;
  EXPECT_EQ(card->name, "c7");
  EXPECT_EQ(card->features, datapath::FeatureSet::mat);
  EXPECT_THAT(card->cores, ElementsAre(1, 3));
  EXPECT_EQ(card->punt_air, "vf");
  EXPECT_EQ(card->max_bearers, 99U);
  EXPECT_EQ(card->numa, 1U);
  EXPECT_EQ(card->policy.yield.sleep_us, 7U);
  EXPECT_EQ(card->schedule.fifo_priority, 3U);
  EXPECT_TRUE(card->verify_udp_checksum);
  EXPECT_EQ(vf_count(*card), 2U);
  EXPECT_EQ(spec_name(*card), "gnb-mat");
}

TEST(CardFile, wires_end_at_a_port_at_a_vf_or_at_all_vfs) {
  const auto card = card_of("program: p4wire, wire: {n3: spread, air: 1, vfs: [n3, air]}");
  ASSERT_TRUE(card) << card.error().message;
  EXPECT_EQ(card->wire_n3->kind, WireTarget::Kind::kSpread);
  EXPECT_EQ(card->wire_air->kind, WireTarget::Kind::kVf);
  EXPECT_EQ(card->wire_air->vf, 1U);
  ASSERT_EQ(card->wire_vfs.size(), 2U);
  EXPECT_EQ(card->wire_vfs[1].kind, WireTarget::Kind::kAir);
  EXPECT_THAT(fault_of("program: p4wire, wire: {n3: 2}"), HasSubstr("card.wire.n3: there is no VF 2; allowed: 0 to 1"));
  EXPECT_THAT(fault_of("program: p4wire, wire: {vfs: [n3]}"), HasSubstr("has 1 target, and there are 2 VFs"));
}

TEST(CardFile, a_key_of_another_program_is_refused) {
  EXPECT_THAT(fault_of("program: l2fwd, marks: 3"), HasSubstr("card.marks: does not belong to program l2fwd"));
  EXPECT_THAT(fault_of("program: p4wire"), HasSubstr("card.wire: is missing"));
  EXPECT_THAT(fault_of("program: gnb, cores: [1, 1]"), HasSubstr("is core 1 again"));
  EXPECT_THAT(fault_of("program: gnb, lookup: ue_address, features: mat"), HasSubstr("with features: clone"));
}

}  // namespace
}  // namespace splitplane::app

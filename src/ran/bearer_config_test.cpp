// What the control path may say about a bearer, and how a TEID is composed.
#include "ran/bearer_config.h"

#include <gmock/gmock.h>
#include <rapidcheck.h>

#include "ran/test_variants.h"

namespace splitplane::ran {
namespace {

using testing::HasSubstr;
using testing::Optional;

TEST(BearerConfig, every_combination_of_the_specs_is_taken) {
  EXPECT_EQ(refuse(BearerConfig{}), std::nullopt);
  const auto variants = test::all_variants();
  EXPECT_EQ(variants.size(), 60U);
  for (const BearerConfig& config : variants) EXPECT_EQ(refuse(config), std::nullopt) << testing::PrintToString(config);
}

TEST(BearerConfig, an_sn_length_that_the_rlc_mode_does_not_have_is_refused) {
  unsigned taken = 0;
  for (const RlcMode mode : {RlcMode::kTm, RlcMode::kUm, RlcMode::kAm}) {
    for (unsigned bits = 0; bits < 256; ++bits) {
      BearerConfig config;
      config.rlc_mode = mode;
      config.rlc_sn_bits = static_cast<std::uint8_t>(bits);
      const auto refused = refuse(config);
      EXPECT_EQ(!refused, wire::airhdr::mode_has_sn_bits(mode, bits)) << static_cast<unsigned>(mode) << " " << bits;
      if (refused) {
        EXPECT_THAT(*refused, HasSubstr("am18, am12, um12, um6, tm"));
      } else {
        ++taken;
      }
    }
  }
  EXPECT_EQ(taken, 5U);
}

TEST(BearerConfig, a_refusal_names_the_key_and_what_is_allowed) {
  const auto with = [](auto change) {
    BearerConfig config;
    change(config);
    return refuse(config);
  };
  EXPECT_THAT(with([](BearerConfig& c) { c.pdcp_sn_bits = 15; }),
              Optional(HasSubstr("pdcp_sn_bits: allowed are 12 and 18")));
  EXPECT_THAT(with([](BearerConfig& c) { c.qfi = Qfi{64}; }), Optional(HasSubstr("qfi: allowed is 0 to 63")));
  EXPECT_EQ(with([](BearerConfig& c) { c.qfi = Qfi{63}; }), std::nullopt);
  EXPECT_THAT(with([](BearerConfig& c) { c.ue_ipv4 = IpAddress::v6({}); }), Optional(HasSubstr("ue_ipv4")));
  EXPECT_THAT(with([](BearerConfig& c) { c.ue_ipv6 = IpAddress::v4({}); }), Optional(HasSubstr("ue_ipv6")));
}

TEST(BearerConfig, rlc_names_lead_there_and_back) {
  for (const char* name : {"am18", "am12", "um12", "um6", "tm"}) {
    RlcMode mode{};
    std::uint8_t bits = 99;
    ASSERT_TRUE(parse_rlc_name(name, mode, bits));
    EXPECT_EQ(rlc_name(mode, bits), name);
  }
  EXPECT_EQ(rlc_name(RlcMode::kAm, 6), "");
  EXPECT_EQ(rlc_name(RlcMode::kTm, 12), "");
}

TEST(BearerConfig, an_unknown_rlc_name_changes_nothing) {
  for (const char* name : {"", "am", "am6", "AM18", "um18", "tm0", "am18 "}) {
    RlcMode mode = RlcMode::kUm;
    std::uint8_t bits = 6;
    EXPECT_FALSE(parse_rlc_name(name, mode, bits)) << name;
    EXPECT_EQ(mode, RlcMode::kUm);
    EXPECT_EQ(bits, 6);
  }
}

TEST(BearerConfig, marks_need_rlc_am_on_the_host_and_a_status_in_time) {
  const BearerConfig fine{.ecn = EcnConfig{}};
  EXPECT_EQ(refuse(fine), std::nullopt);
  BearerConfig um = fine;
  um.rlc_mode = RlcMode::kUm;
  um.rlc_sn_bits = 12;
  EXPECT_EQ(refuse(um), "ecn: rlc um12 does not say what waits below PDCP; allowed: am18, am12");
  BearerConfig on_card = fine;
  on_card.card = "card0";
  EXPECT_EQ(refuse(on_card), "ecn: a card marks no packets; allowed: without card, so that the host serves the bearer");
  BearerConfig late = fine;
  late.arq.t_status_prohibit_ms = 10;
  EXPECT_EQ(refuse(late),
            "ecn.target_us: is 5000, and a STATUS may come am.t_status_prohibit_ms = 10 late; allowed: at least 10000, "
            "or a shorter t_status_prohibit_ms");
  late.ecn->target_us = 10'000;
  EXPECT_EQ(refuse(late), std::nullopt);
}

TEST(Teid, is_instance_shard_and_index) {
  EXPECT_EQ(make_teid(0, ShardId{0}, 1), 1U);
  EXPECT_EQ(make_teid(0, ShardId{1}, 0), 1U << 18);
  EXPECT_EQ(make_teid(1, ShardId{0}, 0), 1U << 26);
  EXPECT_EQ(make_teid(63, ShardId{255}, 0x3ffff), 0xffffffffU);
  EXPECT_EQ(kInstanceBits, 6U);
}

TEST(Teid, its_parts_can_be_read_back) {
  EXPECT_TRUE(rc::check([] {
    const auto instance = *rc::gen::inRange<unsigned>(0, 64);
    const auto shard = *rc::gen::arbitrary<std::uint8_t>();
    const auto index = *rc::gen::inRange<std::uint32_t>(0, 1U << kIndexBits);
    const std::uint32_t teid = make_teid(instance, ShardId{shard}, index);
    RC_ASSERT(shard_of(teid) == ShardId{shard});
    RC_ASSERT(index_of(teid) == index);
    RC_ASSERT((teid >> (kIndexBits + kShardBits)) == instance);
  }));
}

}  // namespace
}  // namespace splitplane::ran

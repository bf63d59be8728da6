#include "ran/session_config.h"

#include <gmock/gmock.h>

#include "ran/test_sessions.h"

namespace splitplane::ran {
namespace {

using testing::HasSubstr;
using testing::Optional;

constexpr std::uint32_t kFirst = make_teid(5, ShardId{7}, 100);

class SessionConfigTest : public testing::Test {
 protected:
  // The sentence must say this and what is allowed.
  void expect_refused(const char* why) {
    EXPECT_THAT(refuse(session), Optional(HasSubstr(why)));
    EXPECT_THAT(refuse(session), Optional(HasSubstr("allowed")));
  }
  SessionConfig session = test::make_session_config(kFirst);
};

TEST_F(SessionConfigTest, a_session_of_one_to_eight_bearers_is_accepted) {
  EXPECT_EQ(refuse(session), std::nullopt);
  session.bearers.resize(1);
  EXPECT_EQ(refuse(session), std::nullopt);
  while (session.bearers.size() < kMaxSessionBearers) {
    SessionBearer next = session.bearers.front();
    next.config.id.value += 100U + static_cast<std::uint32_t>(session.bearers.size());
    next.drb = sdap::DrbId{static_cast<std::uint8_t>(32 - session.bearers.size())};
    session.bearers.push_back(next);
  }
  EXPECT_EQ(refuse(session), std::nullopt);
  session.bearers.push_back(session.bearers.front());
  expect_refused("9 bearers");
  session.bearers.clear();
  expect_refused("0 bearers");
}

TEST_F(SessionConfigTest, drb_identities_are_1_to_32_and_different) {
  session.bearers[1].drb = sdap::DrbId{0};
  expect_refused("drb: 0");
  session.bearers[1].drb = sdap::DrbId{33};
  expect_refused("drb: 33");
  session.bearers[1].drb = sdap::DrbId{5};
  expect_refused("two bearers have 5");
}

TEST_F(SessionConfigTest, the_default_drb_is_one_of_the_session) {
  session.default_drb = {};
  expect_refused("default_drb: 0");
  session.default_drb = sdap::DrbId{3};
  expect_refused("default_drb: 3");
  session.default_drb = sdap::DrbId{5};
  EXPECT_EQ(refuse(session), std::nullopt);
}

TEST_F(SessionConfigTest, identities_are_of_one_shard_and_different) {
  session.bearers[1].config.id = BearerId{make_teid(5, ShardId{8}, 101)};
  expect_refused("another shard");
  session.bearers[1].config.id = BearerId{make_teid(4, ShardId{7}, 101)};
  expect_refused("another shard");
  session.bearers[1].config.id = session.bearers[2].config.id;
  expect_refused("two bearers have");
  session.bearers[1].config.id = BearerId{kFirst + 3};
  expect_refused("spare");
  session = test::make_session_config(kFirst);
  session.spare = BearerId{make_teid(5, ShardId{8}, 1)};
  expect_refused("spare");
  session = test::make_session_config(0);
  expect_refused("id: is 0");
}

TEST_F(SessionConfigTest, what_belongs_to_the_tunnel_is_the_same_at_each_bearer) {
  const auto differs = [&](auto change) {
    session = test::make_session_config(kFirst);
    change(session.bearers[2].config);
    expect_refused("drb 5");
  };
  differs([](BearerConfig& c) { c.upf = IpAddress::v4({10, 100, 0, 3}); });
  differs([](BearerConfig& c) { c.uplink_teid = Teid{1}; });
  differs([](BearerConfig& c) { c.ue_ipv4 = IpAddress::v4({10, 45, 0, 1}); });
  differs([](BearerConfig& c) { c.ue_ipv6 = IpAddress::v6({0xfd}); });
  differs([](BearerConfig& c) { c.dl_teid = Teid{9}; });
  differs([](BearerConfig& c) { c.require_psc = true; });
}

TEST_F(SessionConfigTest, a_card_serves_the_default_bearer_as_the_first_one_and_writes_no_rdi) {
  session.bearers[1].config.card = "c0";
  EXPECT_EQ(refuse(session), std::nullopt);
  session.bearers[1].reflective = true;
  expect_refused("writes no RDI");
  session.bearers[1].reflective = false;
  session.default_drb = session.bearers[1].drb;
  expect_refused("card c0");
}

TEST_F(SessionConfigTest, order_is_for_sessions_with_one_bearer) {
  session.bearers[1].config.n3_reorder.emplace();
  expect_refused("n3_reorder");
  session = test::make_session_config(kFirst);
  session.bearers.resize(1);
  session.bearers[0].config.n3_reorder.emplace();
  EXPECT_EQ(refuse(session), std::nullopt);
}

TEST_F(SessionConfigTest, a_bearer_without_an_uplink_header_carries_one_flow) {
  session.bearers[1].config.sdap_header_ul = false;
  expect_refused("drb 2: has no uplink SDAP header");
  session.bearers[1].flows = {Qfi{9}};  // as its key qfi
  EXPECT_EQ(refuse(session), std::nullopt);
  session.bearers[1].config.qfi = Qfi{8};
  expect_refused("drb 2: has no uplink SDAP header");
  session = test::make_session_config(kFirst);
  session.bearers[0].config.sdap_header_ul = false;
  session.bearers[0].flows = {Qfi{9}};
  expect_refused("default DRB without an uplink SDAP header");
  session.bearers.resize(1);
  EXPECT_EQ(refuse(session), std::nullopt);
}

TEST_F(SessionConfigTest, a_reflective_bearer_has_a_downlink_header) {
  session.bearers[1].reflective = true;
  EXPECT_EQ(refuse(session), std::nullopt);
  session.bearers[1].config.sdap_header_dl = false;
  expect_refused("drb 2: reflective");
}

TEST_F(SessionConfigTest, a_wanted_session_has_no_identities_yet_and_two_bearers_at_least) {
  for (SessionBearer& one : session.bearers) one.config.id = BearerId{};
  session.spare = BearerId{};
  EXPECT_EQ(refuse_wanted(session), std::nullopt);
  EXPECT_NE(refuse(session), std::nullopt);
  session.bearers[1].flows = {Qfi{2}};
  EXPECT_THAT(refuse_wanted(session), Optional(HasSubstr("QFI 2 has two rules")));
  session.bearers.resize(1);
  EXPECT_THAT(refuse_wanted(session), Optional(HasSubstr("has one bearer, and so it is that bearer; allowed")));
}

TEST_F(SessionConfigTest, a_flow_has_one_rule) {
  session.bearers[2].flows.push_back(Qfi{63});
  expect_refused("QFI 63 has two rules");
  session.bearers[2].flows = {Qfi{64}};
  expect_refused("QFI 64");
}

TEST_F(SessionConfigTest, a_bearer_that_is_refused_alone_is_refused_in_a_session) {
  session.bearers[2].config.pdcp_sn_bits = 15;
  expect_refused("drb 5: pdcp_sn_bits");
}

TEST_F(SessionConfigTest, a_flow_has_the_bearer_of_its_rule_or_the_default_one) {
  EXPECT_EQ(session.bearer_of(Qfi{63})->drb.value, 2);
  EXPECT_EQ(session.bearer_of(Qfi{9})->drb.value, 1);
  EXPECT_TRUE(set_flow(session, Qfi{63}, sdap::DrbId{5}));
  EXPECT_TRUE(set_flow(session, Qfi{9}, sdap::DrbId{2}));
  EXPECT_FALSE(set_flow(session, Qfi{1}, sdap::DrbId{7}));
  EXPECT_EQ(session.bearers[1].flows, (std::vector{Qfi{1}, Qfi{9}}));
  EXPECT_EQ(session.bearers[2].flows, (std::vector{Qfi{2}, Qfi{63}}));
  EXPECT_EQ(session.bearer_of(Qfi{63})->drb.value, 5);
  EXPECT_EQ(refuse(session), std::nullopt);
}

TEST_F(SessionConfigTest, security_has_the_drb_identity_of_its_bearer) {
  session.bearers[1].config.security = SecurityConfig{.key = 1, .drb = 2};
  EXPECT_EQ(refuse(session), std::nullopt);
  session.bearers[1].config.security->drb = 1;
  expect_refused("drb 2: security has DRB identity 1");
}

}  // namespace
}  // namespace splitplane::ran

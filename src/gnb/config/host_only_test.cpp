#include "gnb/config/host_only.h"

#include <gmock/gmock.h>

#include "gnb/config/test_read.h"

namespace splitplane::app {
namespace {

using placement::HostOnly;

GnbConfig one_card(const std::string& more = "", const std::string& of_worker = "", const std::string& of_card = "") {
  const auto config = test::parse(R"(
ports:
  n3: {device: net_null0}
  air: {device: net_null1}
  clones: {device: net_null2}
n3: [{port: n3, ipv4: 10.100.0.1}]
air: [{port: air}]
cards:
  card0: {control: card.sock, vfs: [n3, air, clones], n3: n3, air: air)" +
                                      of_card + R"(}
workers:
  w0: {function: gnb, core: 0, n3: n3, air: air)" +
                                      of_worker + R"(}
  w1: {function: copies, core: 1, rx: clones}
)" + more,
                                  "t.yaml");
  EXPECT_TRUE(config) << config.error().message;
  return config.value_or(GnbConfig{});
}

HostOnly why(const GnbConfig& config, const ran::BearerConfig& bearer = {}, bool one_of_several = false) {
  return host_only(config, config.workers.front(), bearer, one_of_several);
}

TEST(HostOnly, a_usual_bearer_behind_a_card_may_live_there_and_move) {
  EXPECT_EQ(why(one_card()), HostOnly::none);
}

TEST(HostOnly, what_a_card_cannot_serve_comes_before_what_its_worker_is) {
  ran::BearerConfig bearer;
  bearer.require_psc = true;
  EXPECT_EQ(why(one_card(), bearer, true), HostOnly::require_psc);
}

TEST(HostOnly, a_worker_without_a_card_or_without_a_lookup_has_none_there) {
  GnbConfig config = one_card();
  config.cards.clear();
  EXPECT_EQ(why(config), HostOnly::no_card);
  EXPECT_EQ(why(one_card("", ", features: headers")), HostOnly::no_lookup);
}

TEST(HostOnly, lookup_by_ue_address_needs_one_and_forbids_moves) {
  const GnbConfig config = one_card("lookup: ue_address\n");
  EXPECT_EQ(why(config), HostOnly::no_ue_address);
  ran::BearerConfig bearer;
  bearer.ue_ipv4 = IpAddress::v4({10, 45, 0, 2});
  EXPECT_EQ(why(config, bearer), HostOnly::by_ue_address);
}

TEST(HostOnly, sessions_and_a_port_for_copies_forbid_moves_only) {
  EXPECT_EQ(why(one_card(), {}, true), HostOnly::of_session);
  EXPECT_EQ(why(one_card("", "", ", copies: clones")), HostOnly::copies);
  EXPECT_TRUE(forbids_moves_only(HostOnly::of_session));
  EXPECT_TRUE(forbids_moves_only(HostOnly::copies));
  EXPECT_FALSE(forbids_moves_only(HostOnly::require_psc));
  EXPECT_FALSE(forbids_moves_only(HostOnly::no_lookup));
}

}  // namespace
}  // namespace splitplane::app

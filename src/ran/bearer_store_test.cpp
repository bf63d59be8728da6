#include "ran/bearer_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "ran/test_sessions.h"

namespace splitplane::app {
namespace {

using ::testing::HasSubstr;

ran::BearerConfig bearer(std::uint32_t uplink_teid) {
  ran::BearerConfig config;
  config.upf = IpAddress::v4({10, 100, 0, 2});
  config.uplink_teid = Teid{uplink_teid};
  return config;
}

BearerStore one_shard(std::uint32_t room, bool by_ue_address = false) {
  return {1, {ShardId{7}}, room, by_ue_address};
}
std::uint32_t identity(std::uint32_t index) {
  return ran::make_teid(1, ShardId{7}, index);
}

TEST(BearerStore, a_shard_is_filled_and_then_refuses) {
  BearerStore store = one_shard(3);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(store.add(bearer(i + 1), {})->id.value, identity(i));
  EXPECT_THAT(store.add(bearer(9), {}).error().message, HasSubstr("no room for another bearer"));
  store.remove(BearerId{identity(1)});
  EXPECT_EQ(store.add(bearer(9), {})->id.value, identity(1));
}

TEST(BearerStore, an_identity_that_is_kept_for_somebody_is_not_chosen) {
  BearerStore store = one_shard(3);
  store.reserve({identity(0), identity(2)});
  EXPECT_EQ(store.add(bearer(1), {})->id.value, identity(1));
  EXPECT_FALSE(store.add(bearer(2), {}));
  ran::BearerConfig back = bearer(2);
  back.id = BearerId{identity(2)};
  EXPECT_EQ(store.add(back, {})->id.value, identity(2));
  store.release_reserved();
  EXPECT_EQ(store.add(bearer(3), {})->id.value, identity(0));
  EXPECT_TRUE(store.is_ours(BearerId{identity(2)}));
  EXPECT_FALSE(store.is_ours(BearerId{identity(3)})) << "beyond the room of a shard";
  EXPECT_FALSE(store.is_ours(BearerId{ran::make_teid(1, ShardId{8}, 0)}));
  EXPECT_FALSE(store.is_ours(BearerId{ran::make_teid(2, ShardId{7}, 0)}));
}

TEST(BearerStore, a_foreign_teid_is_found_and_free_again_after_release) {
  BearerStore store = one_shard(4);
  ran::BearerConfig config = bearer(1);
  config.dl_teid = Teid{0xdeadbeef};
  const auto added = store.add(config, {});
  ASSERT_TRUE(added);
  EXPECT_EQ(store.find_downlink(Teid{0xdeadbeef})->id, added->id);
  EXPECT_EQ(store.find_downlink(Teid{added->id.value})->id, added->id);
  ran::BearerConfig second = bearer(2);
  second.dl_teid = config.dl_teid;
  EXPECT_THAT(store.add(second, {}).error().message, HasSubstr("dl_teid: 0xdeadbeef is in use by bearer 0x041c0000"));
  store.remove(added->id);
  EXPECT_EQ(store.find_downlink(Teid{0xdeadbeef}), nullptr);
  EXPECT_TRUE(store.add(second, {}));
}

TEST(BearerStore, an_identity_that_is_somebodys_foreign_teid_is_not_given_out) {
  BearerStore store = one_shard(3);
  ran::BearerConfig config = bearer(1);
  config.dl_teid = Teid{identity(1)};
  const auto added = store.add(config, {});
  ASSERT_EQ(added->id.value, identity(0));
  EXPECT_EQ(store.add(bearer(2), {})->id.value, identity(2));
  EXPECT_FALSE(store.add(bearer(3), {}));  // identity 1 would be left
  ran::BearerConfig claims = bearer(3);
  claims.id = BearerId{identity(1)};
  EXPECT_THAT(store.add(claims, {}).error().message, HasSubstr("is the dl_teid of bearer"));
  store.remove(added->id);
  std::set<std::uint32_t> given;
  for (std::uint32_t i = 0; i < 2; ++i) given.insert(store.add(bearer(10 + i), {})->id.value);
  EXPECT_EQ(given, (std::set{identity(0), identity(1)}));
}

TEST(BearerStore, a_foreign_teid_that_is_an_identity_is_refused) {
  BearerStore store = one_shard(3);
  ASSERT_TRUE(store.add(bearer(1), {}));
  ran::BearerConfig config = bearer(2);
  config.dl_teid = Teid{identity(0)};
  EXPECT_THAT(store.add(config, {}).error().message, HasSubstr("is in use by bearer"));
  config.id = BearerId{identity(2)};
  config.dl_teid = Teid{identity(2)};  // its own: nothing foreign about it
  EXPECT_FALSE(store.add(config, {})->dl_teid);
}

TEST(BearerStore, with_lookup_by_ue_address_each_bearer_needs_one_of_its_own) {
  BearerStore store = one_shard(8, true);
  EXPECT_THAT(store.add(bearer(1), {}).error().message, HasSubstr("has no UE address"));
  ran::BearerConfig config = bearer(1);
  config.ue_ipv4 = IpAddress::v4({10, 45, 0, 1});
  const auto added = store.add(config, {});
  ASSERT_TRUE(added);
  ran::BearerConfig second = bearer(2);
  second.ue_ipv4 = config.ue_ipv4;
  EXPECT_THAT(store.add(second, {}).error().message,
              HasSubstr("10.45.0.1 holds a UE address that bearer 0x041c0000 has"));
  store.remove(added->id);
  EXPECT_TRUE(store.add(second, {}));
}

TEST(BearerStore, a_ue_address_is_one_bearers_whoever_looks_for_it) {
  BearerStore store = one_shard(8);
  ran::BearerConfig config = bearer(1);
  config.ue_ipv4 = IpAddress::v4({10, 45, 0, 1});
  const auto added = store.add(config, {});
  ASSERT_TRUE(added);
  ran::BearerConfig second = bearer(2);
  second.ue_ipv6 = *IpAddress::parse("fd00:45::1");
  second.ue_ipv4 = config.ue_ipv4;
  EXPECT_THAT(store.add(second, {}).error().message,
              HasSubstr("ue_ipv4: 10.45.0.1 holds a UE address that bearer 0x041c0000 has too"));
  store.remove(added->id);
  EXPECT_TRUE(store.add(second, {}));
}

ran::SessionConfig session(std::uint32_t uplink_teid) {
  ran::SessionConfig config = ran::test::make_session_config(0);
  for (ran::SessionBearer& one : config.bearers) {
    one.config = bearer(uplink_teid);
    one.config.ue_ipv4 = IpAddress::v4({10, 45, 0, 1});
  }
  config.spare = {};
  return config;
}

TEST(BearerStore, a_session_gets_an_identity_for_each_bearer_and_a_spare_one) {
  BearerStore store({1, {ShardId{7}, ShardId{8}}, 8});
  const auto added = store.add_session(session(5), 8);
  ASSERT_TRUE(added) << added.error().message;
  std::set<std::uint32_t> ids{added->spare.value};
  for (const ran::SessionBearer& one : added->bearers) {
    ids.insert(one.config.id.value);
    EXPECT_EQ(store.find(one.config.id)->id, one.config.id);
    EXPECT_EQ(store.session_of(one.config.id)->teid(), added->teid());
  }
  EXPECT_EQ(ids.size(), 4U);
  for (const std::uint32_t id : ids) EXPECT_EQ(ran::shard_of(id), ShardId{8});
  EXPECT_EQ(store.session_of(added->spare), nullptr);
  EXPECT_EQ(store.find(added->spare), nullptr);
  EXPECT_EQ(store.size(), 3U);
  EXPECT_EQ(store.find_uplink(bearer(5).upf, Teid{5})->id.value, added->teid().value);
  EXPECT_EQ(ran::refuse(*added), std::nullopt);
}

TEST(BearerStore, the_identities_of_a_session_are_free_again_when_it_goes) {
  BearerStore store = one_shard(4, true);
  for (int i = 0; i < 3; ++i) {
    const auto added = store.add_session(session(5), {});
    ASSERT_TRUE(added) << added.error().message;
    EXPECT_FALSE(store.add(bearer(6), {})) << "the shard is full";
    store.remove(added->bearers[1].config.id);
    store.remove(added->bearers[0].config.id);
    EXPECT_EQ(store.size(), 3U) << "a bearer does not leave its session";
    store.remove_session(added->teid());
    store.remove_session(added->teid());
    EXPECT_EQ(store.size(), 0U);
    EXPECT_EQ(store.find_uplink(bearer(5).upf, Teid{5}), nullptr);
  }
}

TEST(BearerStore, a_replaced_bearer_of_a_session_leaves_the_tunnels_key_at_the_first_one) {
  BearerStore store = one_shard(8);
  const auto added = store.add_session(session(5), {});
  ASSERT_TRUE(added);
  ran::BearerConfig second = added->bearers[1].config;
  second.acknowledged = true;
  store.replace(second);
  EXPECT_EQ(store.find_uplink(second.upf, Teid{5})->id.value, added->teid().value);
  EXPECT_TRUE(store.find(second.id)->acknowledged);
  const auto page = store.sessions_after(0, 2);
  ASSERT_EQ(page.size(), 1U);
  EXPECT_EQ(page[0].bearers[1].config, second);
  EXPECT_TRUE(store.sessions_after(added->teid().value, 2).empty());
}

TEST(BearerStore, a_session_that_is_refused_leaves_nothing) {
  BearerStore store = one_shard(3);
  EXPECT_THAT(store.add_session(session(5), {}).error().message, HasSubstr("is full"));
  ran::SessionConfig two_rules = session(5);
  two_rules.bearers.pop_back();
  two_rules.bearers[0].flows = {Qfi{1}};  // as the second bearer
  EXPECT_THAT(store.add_session(two_rules, {}).error().message, HasSubstr("two rules"));
  EXPECT_FALSE(store.add_session({}, {}));
  EXPECT_EQ(store.size(), 0U);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_TRUE(store.add(bearer(i + 1), {}));
  EXPECT_THAT(store.add_session(session(2), {}).error().message, HasSubstr("is in use by bearer"));
}

TEST(BearerStore, an_identity_that_a_session_names_is_not_chosen_for_another_of_its_bearers) {
  for (const std::size_t named : {0U, 1U, 2U}) {
    BearerStore store = one_shard(8);
    ran::SessionConfig config = session(5);
    config.bearers[named].config.id = BearerId{identity(0)};  // what would be chosen first
    const auto added = store.add_session(config, {});
    ASSERT_TRUE(added) << added.error().message;
    EXPECT_EQ(added->bearers[named].config.id, BearerId{identity(0)});
    std::set<std::uint32_t> ids{added->spare.value};
    for (const ran::SessionBearer& one : added->bearers) ids.insert(one.config.id.value);
    EXPECT_EQ(ids.size(), 4U);
  }
}

TEST(BearerStore, identities_that_a_session_asks_for_are_claimed_once) {
  BearerStore store = one_shard(8);
  ran::SessionConfig config = session(5);
  for (std::uint32_t i = 0; i < 3; ++i) config.bearers[i].config.id = BearerId{identity(i + 2)};
  config.spare = BearerId{identity(4)};
  EXPECT_THAT(store.add_session(config, {}).error().message, HasSubstr("is taken"));
  config.spare = BearerId{identity(6)};
  ASSERT_TRUE(store.add_session(config, {}));
  for (const std::uint32_t index : {3U, 6U}) {
    ran::BearerConfig other = bearer(9);
    other.id = BearerId{identity(index)};
    EXPECT_THAT(store.add(other, {}).error().message, HasSubstr("is taken"));
  }
  ran::BearerConfig free = bearer(9);
  free.id = BearerId{identity(5)};
  EXPECT_TRUE(store.add(free, {}));
}

}  // namespace
}  // namespace splitplane::app

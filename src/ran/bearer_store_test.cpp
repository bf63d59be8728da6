#include "ran/bearer_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

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

}  // namespace
}  // namespace splitplane::app

// The table of one worker: which lines it finds, which it must not find, and how a shard moves to another worker.
#include "ran/bearer_table.h"

#include <gtest/gtest.h>

#include <vector>

#include "ran/header_mode.h"

namespace splitplane::ran {
namespace {

constexpr std::uint32_t kCapacity = 8;

// A shard's memory on the heap, exactly as large as its capacity.
struct Shard {
  explicit Shard(std::uint32_t capacity = kCapacity) : downlink(capacity), uplink(capacity), drops(capacity) {}
  ShardSlab slab() {
    return {downlink.data(), uplink.data(), drops.data(), static_cast<std::uint32_t>(downlink.size())};
  }

  void put(std::uint32_t teid, std::uint16_t peer = 0) {
    BearerConfig config;
    config.id = BearerId{teid};
    downlink[index_of(teid)] = make_downlink(config);
    uplink[index_of(teid)] = make_uplink(config, PeerId{peer});
  }

  std::vector<BearerDownlink> downlink;
  std::vector<BearerUplink> uplink;
  std::vector<BearerDrops> drops;
};

bool finds(BearerTable& table, std::uint32_t teid) {
  const bool down = BearerTable::is(*table.downlink_line(teid), teid);
  const bool up = BearerTable::is(*table.uplink_line(teid), teid);
  EXPECT_EQ(down, up);
  return down;
}

TEST(BearerTable, finds_the_bearer_that_a_teid_names) {
  Shard shard;
  BearerTable table;
  table.attach(ShardId{3}, shard.slab());
  const std::uint32_t teid = make_teid(9, ShardId{3}, 5);
  shard.put(teid);
  EXPECT_TRUE(finds(table, teid));
  EXPECT_EQ(table.downlink_line(teid), &shard.downlink[5]);
  EXPECT_EQ(table.uplink_line(teid), &shard.uplink[5]);
  EXPECT_EQ(&table.drops(teid), &shard.drops[5]);
  EXPECT_TRUE(table.owns(teid));
}

TEST(BearerTable, the_same_line_asked_for_under_another_identity_is_not_found) {
  Shard shard;
  BearerTable table;
  table.attach(ShardId{3}, shard.slab());
  shard.put(make_teid(9, ShardId{3}, 5));
  EXPECT_FALSE(finds(table, make_teid(8, ShardId{3}, 5))) << "another instance";
  EXPECT_FALSE(finds(table, make_teid(9, ShardId{3}, 4))) << "a free line";
  EXPECT_FALSE(finds(table, make_teid(9, ShardId{2}, 5))) << "another shard";
}

TEST(BearerTable, identity_zero_is_nobody_although_free_lines_carry_it) {
  Shard shard;
  BearerTable table;
  EXPECT_FALSE(finds(table, 0));
  table.attach(ShardId{0}, shard.slab());
  EXPECT_EQ(table.downlink_line(0), &shard.downlink[0]);
  EXPECT_FALSE(finds(table, 0));
}

TEST(BearerTable, an_index_beyond_the_capacity_is_nobody) {
  Shard shard;
  BearerTable table;
  table.attach(ShardId{0}, shard.slab());
  shard.put(make_teid(0, ShardId{0}, kCapacity - 1));
  EXPECT_TRUE(finds(table, make_teid(0, ShardId{0}, kCapacity - 1)));
  for (const std::uint32_t index : {kCapacity, kCapacity + 1, (1U << kIndexBits) - 1}) {
    EXPECT_FALSE(finds(table, make_teid(0, ShardId{0}, index)));
  }
}

TEST(BearerTable, no_teid_at_all_leads_out_of_the_memory_of_a_table) {
  Shard shard(1);
  BearerTable table;
  table.attach(ShardId{255}, shard.slab());
  shard.put(make_teid(0, ShardId{255}, 0));
  unsigned found = 0;
  for (std::uint64_t teid = 0; teid <= 0xffffffffU; teid += 65'521) {  // a prime: every shard, many indices
    found += finds(table, static_cast<std::uint32_t>(teid)) ? 1 : 0;
  }
  EXPECT_EQ(found, 0U);
  EXPECT_TRUE(finds(table, make_teid(0, ShardId{255}, 0)));
}

TEST(BearerTable, a_shard_that_nobody_attached_is_not_owned) {
  BearerTable table;
  for (unsigned shard = 0; shard < kShards; ++shard) {
    const std::uint32_t teid = make_teid(1, ShardId{static_cast<std::uint8_t>(shard)}, 0);
    EXPECT_FALSE(table.owns(teid));
    EXPECT_FALSE(finds(table, teid));
  }
}

TEST(BearerTable, a_shard_moves_to_another_worker_with_its_numbers) {
  Shard shard;
  const std::uint32_t teid = make_teid(0, ShardId{7}, 2);
  shard.put(teid, 4);
  BearerTable first, second;
  first.attach(ShardId{7}, shard.slab());
  std::vector<std::uint8_t> frame(32);
  for (int i = 0; i < 5; ++i) write_downlink(*first.downlink_line(teid), 9, frame.data() + 24, 8);
  ++first.drops(teid).downlink;

  second.attach(ShardId{7}, first.detach(ShardId{7}));
  EXPECT_FALSE(first.owns(teid));
  EXPECT_FALSE(finds(first, teid));
  ASSERT_TRUE(finds(second, teid));
  EXPECT_EQ(second.downlink_line(teid)->pdcp_tx_next, 5U);
  EXPECT_EQ(second.downlink_line(teid)->rlc_tx_next, 5U);
  EXPECT_EQ(second.uplink_line(teid)->peer, 4);
  EXPECT_EQ(second.drops(teid).downlink, 1U);
  EXPECT_EQ(first.detach(ShardId{7}).capacity, 0U) << "there is nothing to give up twice";
}

TEST(BearerTable, a_released_bearer_is_unknown_at_once) {
  Shard shard;
  BearerTable table;
  table.attach(ShardId{1}, shard.slab());
  const std::uint32_t teid = make_teid(0, ShardId{1}, 0);
  shard.put(teid);
  EXPECT_TRUE(finds(table, teid));
  shard.downlink[0] = {};
  shard.uplink[0] = {};
  EXPECT_FALSE(finds(table, teid));
}

}  // namespace
}  // namespace splitplane::ran

#include "gnb/control/contexts.h"

#include "gnb/control/test_parts.h"

namespace splitplane::app {
namespace {

TEST(Contexts, a_dispatching_worker_reads_all_queues_of_its_ports_in_their_order) {
  const GnbConfig config = gnb::test::with_dispatcher();
  const auto queues = dispatch_queues(config, config.workers.back());
  ASSERT_EQ(queues.size(), 4U);
  EXPECT_EQ(queues[1].port, "n3");
  EXPECT_EQ(queues[1].queue, 1);
  EXPECT_EQ(queues[1].direction, Direction::kDownlink);
  EXPECT_EQ(queues[2].port, "air");
  EXPECT_EQ(queues[2].direction, Direction::kUplink);
}

TEST(Contexts, each_worker_behind_a_card_reads_a_pair_of_vfs_or_a_dispatching_worker_all) {
  const GnbConfig config = gnb::test::with_card();
  EXPECT_TRUE(reads_vfs(config, config.cards[0], config.workers[0]));
  EXPECT_TRUE(reads_vfs(config, config.cards[0], config.workers[1]));
  const GnbConfig fed = gnb::test::with_card(gnb::test::with_dispatcher());
  EXPECT_FALSE(reads_vfs(fed, fed.cards[0], fed.workers[1]));
}

TEST(Contexts, keys_take_memory_as_far_as_they_are_looked_for) {
  EXPECT_EQ(key_tables_bytes(GnbConfig::Lookup::kTeid, 0, 100), 0U);
  EXPECT_GT(key_tables_bytes(GnbConfig::Lookup::kTeid, 100, 100), 0U);
  EXPECT_GT(key_tables_bytes(GnbConfig::Lookup::kUeAddress, 100, 100),
            key_tables_bytes(GnbConfig::Lookup::kTeid, 100, 100));
}

}  // namespace
}  // namespace splitplane::app

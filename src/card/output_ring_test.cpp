#include "card/output_ring.h"

#include <gtest/gtest.h>
#include <rte_ring_elem.h>

#include "engine/test_environment.h"

namespace splitplane::nic {
namespace {

TEST(OutputRing, frames_that_are_left_on_it_are_freed_with_it) {
  const auto pool = rte_pktmbuf_pool_create(datapath::test::unique_name("left").c_str(), 7, 0, 0, 2048, SOCKET_ID_ANY);
  ASSERT_NE(pool, nullptr);
  auto ring = make_output_ring(datapath::test::unique_name("left"), 4);
  ASSERT_TRUE(ring);
  for (std::uint64_t port = 0; port < 4; ++port) {
    CoreOutput output{.mbuf = rte_pktmbuf_alloc(pool), .port = port};
    ASSERT_EQ(rte_ring_sp_enqueue_elem(ring.get(), &output, kCoreOutputBytes), 0) << "holds " << port;
  }
  CoreOutput fifth{};
  EXPECT_NE(rte_ring_sp_enqueue_elem(ring.get(), &fifth, kCoreOutputBytes), 0) << "of four entries";
  EXPECT_EQ(rte_mempool_in_use_count(pool), 4U);
  ring.reset();
  EXPECT_EQ(rte_mempool_in_use_count(pool), 0U);
  rte_mempool_free(pool);
}

TEST(OutputRing, a_second_one_of_a_name_is_none) {
  const auto name = datapath::test::unique_name("twice");
  const auto ring = make_output_ring(name, 4);
  ASSERT_TRUE(ring);
  EXPECT_FALSE(make_output_ring(name, 4));
}

}  // namespace
}  // namespace splitplane::nic

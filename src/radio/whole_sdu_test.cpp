#include "radio/whole_sdu.h"

#include <gtest/gtest.h>

#include <optional>

#include "engine/test_environment.h"

namespace splitplane::datapath {
namespace {

using test::Bytes;
using Part = ran::rlc::Part<MbufBuffer>;

Bytes octets_of(const MbufBuffer& buffer) {
  return {buffer.data(), buffer.data() + buffer.size()};
}

TEST(WholeSdu, an_sdu_of_one_pdu_keeps_its_buffer) {
  test::Pool pool;
  std::array<Part, 1> parts{Part{MbufBuffer(pool.make({1, 2, 3, 4, 5, 6})), 2, 3}};
  const rte_mbuf* const before = parts[0].pdu.get();
  const WholeSdu whole = whole_sdu(parts, pool.get());
  EXPECT_FALSE(whole.copied);
  EXPECT_EQ(whole.sdu.get(), before);
  EXPECT_EQ(octets_of(whole.sdu), (Bytes{3, 4, 5}));
}

TEST(WholeSdu, segments_become_one_buffer_with_headroom) {
  test::Pool pool;
  std::array<Part, 3> parts{Part{MbufBuffer(pool.make({9, 1, 2})), 1, 2}, Part{MbufBuffer(pool.make({9, 9, 3})), 2, 1},
                            Part{MbufBuffer(pool.make({4, 5})), 0, 2}};
  const WholeSdu whole = whole_sdu(parts, pool.get());
  EXPECT_TRUE(whole.copied);
  EXPECT_EQ(octets_of(whole.sdu), (Bytes{1, 2, 3, 4, 5}));
  EXPECT_EQ(whole.sdu.headroom(), RTE_PKTMBUF_HEADROOM);
  EXPECT_TRUE(whole.sdu.writable());
}

TEST(WholeSdu, a_buffer_that_another_one_uses_is_not_changed) {
  test::Pool pool;
  std::array<Part, 1> parts{Part{MbufBuffer(pool.make({9, 1, 2})), 1, 2}};
  const MbufBuffer other = parts[0].pdu.share();
  const WholeSdu whole = whole_sdu(parts, pool.get());
  EXPECT_TRUE(whole.copied);
  EXPECT_EQ(octets_of(whole.sdu), (Bytes{1, 2}));
  EXPECT_EQ(octets_of(other), (Bytes{9, 1, 2}));
  parts[0].pdu.release();
}

TEST(WholeSdu, without_a_buffer_there_is_none) {
  test::Pool pool(3), tiny(1, RTE_PKTMBUF_HEADROOM + 4);
  std::array<Part, 2> parts{Part{MbufBuffer(pool.make({1, 2, 3})), 0, 3}, Part{MbufBuffer(pool.make({4, 5})), 0, 2}};
  EXPECT_FALSE(whole_sdu(parts, tiny.get()).sdu) << "longer than a buffer";
  const MbufBuffer last(rte_pktmbuf_alloc(pool.get()));
  EXPECT_FALSE(whole_sdu(parts, pool.get()).sdu);
  EXPECT_EQ(octets_of(parts[0].pdu), (Bytes{1, 2, 3}));
}

}  // namespace
}  // namespace splitplane::datapath

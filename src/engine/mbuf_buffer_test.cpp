// What DPDK's buffers promise as PacketBuffer (test_conformance.h), and what they are beside it.
#include "engine/mbuf_buffer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "buf/test_conformance.h"
#include "engine/test_environment.h"

namespace splitplane::datapath {
namespace {

using buf::test::BufferRoom;
using buf::test::content;
using buf::test::sequence;
using test::Bytes;
using test::Pool;

struct MbufModel {
  using Buffer = MbufBuffer;
  static constexpr bool kChecks = kFreezeChecks;
  static constexpr bool kStorageIsABuffer = true;
  explicit MbufModel(BufferRoom r)
      : room(r), pool(r.limit, static_cast<std::uint16_t>(r.headroom + r.size + r.tailroom)) {}
  [[nodiscard]] Buffer make(const Bytes& octets) {
    Buffer buffer = MbufBuffer::make(pool.get(), octets.size(), room.headroom);
    if (buffer && !octets.empty()) std::memcpy(buffer.mutable_data(), octets.data(), octets.size());
    return buffer;
  }
  [[nodiscard]] std::size_t live() const { return pool.in_use(); }
  [[nodiscard]] static std::size_t tailroom(const BufferRoom& room, std::size_t size) {
    return room.size - size + room.tailroom;
  }
  BufferRoom room;
  Pool pool;
};

TEST(MbufBuffer, takes_and_gives_references_as_dpdk_counts_them) {
  test::Pool pool(4);
  rte_mbuf* const m = pool.make(sequence(20));
  MbufBuffer buffer(m);
  EXPECT_EQ(buffer.get(), m);
  EXPECT_EQ(content(buffer), sequence(20));
  EXPECT_EQ(buffer.headroom(), RTE_PKTMBUF_HEADROOM);
  MbufBuffer reference = buffer.share();
  EXPECT_EQ(rte_mbuf_refcnt_read(m), 2);
  rte_mbuf* const given = reference.detach();
  EXPECT_FALSE(reference);
  EXPECT_EQ(given, m);
  rte_pktmbuf_free(given);  // as a port does after transmit
  EXPECT_EQ(rte_mbuf_refcnt_read(m), 1);
  EXPECT_TRUE(buffer.writable());
  EXPECT_FALSE(MbufBuffer(nullptr));
}

TEST(MbufBuffer, keeps_packet_and_segment_length_alike) {
  test::Pool pool(4);
  MbufBuffer buffer(pool.make(sequence(20)));
  const auto consistent = [](const MbufBuffer& b) {
    return b.get()->pkt_len == b.get()->data_len && b.get()->data_len == b.size();
  };
  ASSERT_NE(buffer.prepend(5), nullptr);
  ASSERT_NE(buffer.append(7), nullptr);
  EXPECT_TRUE(consistent(buffer));
  ASSERT_TRUE(buffer.trim_front(1) && buffer.trim_back(2));
  EXPECT_TRUE(consistent(buffer));
  const MbufBuffer tail = buffer.split(4);
  EXPECT_TRUE(consistent(buffer) && consistent(tail));
}

TEST(MbufBuffer, a_pool_with_too_little_room_makes_no_buffer) {
  test::Pool pool(4, 64);
  EXPECT_FALSE(MbufBuffer::make(pool.get(), 60, 5));
  EXPECT_FALSE(MbufBuffer::make(pool.get(), 1U << 20));
  EXPECT_EQ(pool.in_use(), 0U);
  EXPECT_TRUE(MbufBuffer::make(pool.get(), 60, 4));
}

TEST(MbufBuffer, many_are_released_together_each_by_one_reference) {
  test::Pool pool(200);
  std::vector<MbufBuffer> buffers(150);
  for (unsigned i = 0; i < 130; ++i) buffers[i] = MbufBuffer(pool.make(sequence(4)));
  MbufBuffer kept = buffers[7].share();
  buf::release_all(std::span(buffers));
  for (const MbufBuffer& buffer : buffers) EXPECT_FALSE(buffer);
  EXPECT_EQ(pool.in_use(), 1U);
  EXPECT_EQ(content(kept), sequence(4));
  buf::release_all(std::span<MbufBuffer>());
}

TEST(MbufBufferDeathTest, releasing_changed_octets_stops_a_debug_process) {
  if (!kFreezeChecks) GTEST_SKIP() << "release builds do not check";
  test::Pool pool(4);
  MbufBuffer a(pool.make(sequence(4)));
  std::uint8_t* const stale = a.mutable_data();
  MbufBuffer b = a.share();
  EXPECT_DEATH((stale[0] = 99, b.release()), "octets changed after they were shared");
  stale[0] = 1;  // DPDK's memory is shared with the process that died
}

}  // namespace
}  // namespace splitplane::datapath

namespace splitplane::buf::test {
INSTANTIATE_TYPED_TEST_SUITE_P(Mbuf, BufferModel, datapath::MbufModel);
}  // namespace splitplane::buf::test

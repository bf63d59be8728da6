// What the heap's buffers promise as PacketBuffer (test_conformance.h), and the faults at which they stop the process.
#include "buf/heap_buffer.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <vector>

#include "buf/test_conformance.h"

namespace splitplane::buf {
namespace {

using test::BufferRoom;
using test::Bytes;
using test::sequence;

static_assert(PacketBuffer<HeapBuffer>);
static_assert(!PacketBuffer<std::vector<std::uint8_t>>);
static_assert(!PacketBuffer<std::shared_ptr<HeapBuffer>>, "an implicit copy is not a reference that anybody counts");

struct HeapModel {
  using Buffer = HeapBuffer;
  static constexpr bool kChecks = true;
  static constexpr bool kStorageIsABuffer = false;  // the storage of a split one counts as a separate buffer
  explicit HeapModel(BufferRoom room)
      : pool({.headroom = room.headroom, .tailroom = room.tailroom, .limit = room.limit}) {}
  [[nodiscard]] Buffer make(const Bytes& octets) { return pool.make(octets); }
  [[nodiscard]] std::size_t live() const { return pool.live(); }
  [[nodiscard]] static std::size_t tailroom(const BufferRoom& room, std::size_t) { return room.tailroom; }
  HeapPool pool;
};

TEST(HeapBuffer, a_huge_buffer_is_refused) {
  HeapPool pool;
  EXPECT_FALSE(pool.make(std::numeric_limits<std::size_t>::max()));
  EXPECT_EQ(pool.live(), 0U);
}

TEST(HeapBufferDeathTest, releasing_changed_octets_stops_the_process) {
  EXPECT_DEATH(
      {
        HeapPool pool;
        HeapBuffer a = pool.make(sequence(4));
        std::uint8_t* const stale = a.mutable_data();
        HeapBuffer b = a.share();
        stale[0] = 99;
        b.release();
      },
      "octets changed after they were shared");
}

TEST(HeapBufferDeathTest, a_pool_that_dies_before_its_buffers_says_so) {
  EXPECT_DEATH(
      {
        HeapBuffer left;
        HeapPool pool;
        left = pool.make(sequence(4));
        // The pool is destroyed first.
      },
      "1 buffers were not released");
}

#if defined(SPLITPLANE_ASAN)
TEST(HeapBufferDeathTest, an_octet_too_far_is_seen_by_the_sanitizer) {
  HeapPool pool({.headroom = 16, .tailroom = 5});
  HeapBuffer buffer = pool.make(sequence(11));
  const volatile std::uint8_t* const data = buffer.data();
  EXPECT_DEATH(static_cast<void>(data[11]), "AddressSanitizer") << "its own tailroom";
  EXPECT_DEATH(static_cast<void>(data[16]), "AddressSanitizer") << "behind the block";
  EXPECT_DEATH(static_cast<void>(data[-1]), "AddressSanitizer") << "its own headroom";
}
#endif

}  // namespace
}  // namespace splitplane::buf

namespace splitplane::buf::test {
INSTANTIATE_TYPED_TEST_SUITE_P(Heap, BufferModel, HeapModel);
}  // namespace splitplane::buf::test

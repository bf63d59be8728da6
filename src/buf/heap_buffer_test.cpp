// Behaviour of the heap model, which is what PacketBuffer promises: own, part and shared buffers, and the freeze check.
#include "buf/heap_buffer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

namespace splitplane::buf {
namespace {

static_assert(PacketBuffer<HeapBuffer>);
static_assert(!PacketBuffer<std::vector<std::uint8_t>>);
static_assert(!PacketBuffer<std::shared_ptr<HeapBuffer>>, "an implicit copy is not a reference that anybody counts");

std::vector<std::uint8_t> sequence(std::size_t n) {
  std::vector<std::uint8_t> octets(n);
  std::iota(octets.begin(), octets.end(), std::uint8_t{1});
  return octets;
}

std::vector<std::uint8_t> content(const HeapBuffer& buffer) {
  const auto view = octets(buffer);
  return {view.begin(), view.end()};
}

TEST(HeapBuffer, holds_a_copy_of_its_content_with_the_asked_room) {
  HeapPool pool({.headroom = 16, .tailroom = 4});
  const auto want = sequence(10);
  const HeapBuffer buffer = pool.make(want);
  ASSERT_TRUE(buffer);
  EXPECT_EQ(content(buffer), want);
  EXPECT_EQ(buffer.headroom(), 16U);
  EXPECT_EQ(buffer.tailroom(), 4U);
  EXPECT_TRUE(buffer.writable());
}

TEST(HeapBuffer, prepend_and_append_give_the_new_octets_until_the_room_is_used) {
  HeapPool pool({.headroom = 3, .tailroom = 2});
  HeapBuffer buffer = pool.make(sequence(2));
  std::uint8_t* const front = buffer.prepend(3);
  ASSERT_NE(front, nullptr);
  std::memset(front, 9, 3);
  std::uint8_t* const back = buffer.append(2);
  ASSERT_NE(back, nullptr);
  std::memset(back, 7, 2);
  EXPECT_EQ(content(buffer), (std::vector<std::uint8_t>{9, 9, 9, 1, 2, 7, 7}));
  EXPECT_EQ(buffer.prepend(1), nullptr);
  EXPECT_EQ(buffer.append(1), nullptr);
  EXPECT_EQ(buffer.size(), 7U);
}

TEST(HeapBuffer, trim_moves_the_edges_and_refuses_more_than_there_is) {
  HeapPool pool({.headroom = 0, .tailroom = 0});
  HeapBuffer buffer = pool.make(sequence(6));
  EXPECT_TRUE(buffer.trim_front(2));
  EXPECT_TRUE(buffer.trim_back(1));
  EXPECT_EQ(content(buffer), (std::vector<std::uint8_t>{3, 4, 5}));
  EXPECT_EQ(buffer.headroom(), 2U);
  EXPECT_EQ(buffer.tailroom(), 1U);
  EXPECT_FALSE(buffer.trim_front(4));
  EXPECT_FALSE(buffer.trim_back(4));
  EXPECT_EQ(content(buffer), (std::vector<std::uint8_t>{3, 4, 5}));
  EXPECT_TRUE(buffer.trim_front(3));
  EXPECT_EQ(buffer.size(), 0U);
}

TEST(HeapBuffer, huge_counts_are_refused) {
  HeapPool pool({.headroom = 8, .tailroom = 8});
  HeapBuffer buffer = pool.make(sequence(8));
  constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(buffer.prepend(kHuge), nullptr);
  EXPECT_EQ(buffer.append(kHuge), nullptr);
  EXPECT_FALSE(buffer.trim_front(kHuge));
  EXPECT_FALSE(buffer.trim_back(kHuge));
  EXPECT_FALSE(buffer.split(kHuge));
  EXPECT_FALSE(pool.make(kHuge));
  EXPECT_EQ(content(buffer), sequence(8));
  EXPECT_EQ(pool.live(), 1U);
}

TEST(HeapBuffer, an_empty_handle_refuses_everything) {
  HeapBuffer empty;
  EXPECT_FALSE(empty);
  EXPECT_EQ(empty.data(), nullptr);
  EXPECT_EQ(empty.size(), 0U);
  EXPECT_FALSE(empty.writable());
  EXPECT_EQ(empty.mutable_data(), nullptr);
  EXPECT_EQ(empty.prepend(0), nullptr);
  EXPECT_EQ(empty.append(0), nullptr);
  EXPECT_FALSE(empty.trim_front(0));
  EXPECT_FALSE(empty.trim_back(0));
  EXPECT_FALSE(empty.share());
  EXPECT_FALSE(empty.split(0));
  EXPECT_TRUE(empty.intact());
  empty.release();
}

TEST(HeapBuffer, moving_empties_the_source_and_releases_what_the_target_held) {
  HeapPool pool;
  HeapBuffer a = pool.make(sequence(3));
  HeapBuffer b = pool.make(sequence(5));
  EXPECT_EQ(pool.live(), 2U);
  b = std::move(a);
  EXPECT_EQ(pool.live(), 1U);
  EXPECT_FALSE(a);  // NOLINT(bugprone-use-after-move): what a move leaves is part of the concept
  EXPECT_EQ(content(b), sequence(3));
}

TEST(HeapBuffer, a_shared_buffer_is_the_same_octets_and_refuses_changes_until_one_handle_is_left) {
  HeapPool pool({.headroom = 8, .tailroom = 8});
  HeapBuffer a = pool.make(sequence(8));
  HeapBuffer b = a.share();
  EXPECT_EQ(a.data(), b.data());
  EXPECT_EQ(pool.live(), 1U);
  for (HeapBuffer* handle : {&a, &b}) {
    EXPECT_FALSE(handle->writable());
    EXPECT_EQ(handle->mutable_data(), nullptr);
    EXPECT_EQ(handle->prepend(1), nullptr);
    EXPECT_EQ(handle->append(1), nullptr);
    EXPECT_FALSE(handle->trim_front(1));
    EXPECT_FALSE(handle->trim_back(1));
    EXPECT_EQ(handle->headroom(), 0U);
    EXPECT_EQ(content(*handle), sequence(8));
  }
  a.release();
  EXPECT_FALSE(a);
  EXPECT_TRUE(b.writable());
  EXPECT_NE(b.prepend(8), nullptr);
  b.release();
  EXPECT_EQ(pool.live(), 0U);
}

TEST(HeapBuffer, split_gives_two_immutable_parts_of_the_same_storage) {
  HeapPool pool({.headroom = 8, .tailroom = 8});
  HeapBuffer head = pool.make(sequence(10));
  const std::uint8_t* const first = head.data();
  HeapBuffer tail = head.split(4);
  ASSERT_TRUE(tail);
  EXPECT_EQ(content(head), sequence(4));
  EXPECT_EQ(content(tail), (std::vector<std::uint8_t>{5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(head.data(), first);
  EXPECT_EQ(tail.data(), first + 4);
  for (HeapBuffer* part : {&head, &tail}) {
    EXPECT_FALSE(part->writable());
    EXPECT_EQ(part->prepend(1), nullptr) << "these octets belong to the other part";
    EXPECT_EQ(part->append(1), nullptr);
  }
  EXPECT_TRUE(tail.trim_front(1));
  EXPECT_TRUE(head.trim_back(1));
  HeapBuffer rest = tail.split(2);
  EXPECT_EQ(content(head), sequence(3));
  EXPECT_EQ(content(tail), (std::vector<std::uint8_t>{6, 7}));
  EXPECT_EQ(content(rest), (std::vector<std::uint8_t>{8, 9, 10}));
  head.release();
  rest.release();
  EXPECT_EQ(content(tail), (std::vector<std::uint8_t>{6, 7}));
  EXPECT_FALSE(tail.writable()) << "a part stays a part, as an indirect mbuf does";
}

TEST(HeapBuffer, split_at_either_end_gives_an_empty_part) {
  HeapPool pool;
  HeapBuffer buffer = pool.make(sequence(4));
  HeapBuffer nothing = buffer.split(4);
  ASSERT_TRUE(nothing);
  EXPECT_EQ(nothing.size(), 0U);
  HeapBuffer all = buffer.split(0);
  EXPECT_EQ(buffer.size(), 0U);
  EXPECT_EQ(content(all), sequence(4));
  EXPECT_FALSE(all.split(5));
}

TEST(HeapBuffer, splitting_one_handle_of_a_shared_buffer_leaves_the_other_as_it_was) {
  HeapPool pool;
  HeapBuffer a = pool.make(sequence(6));
  HeapBuffer b = a.share();
  HeapBuffer tail = a.split(2);
  EXPECT_EQ(content(a), sequence(2));
  EXPECT_EQ(content(tail), (std::vector<std::uint8_t>{3, 4, 5, 6}));
  EXPECT_EQ(content(b), sequence(6));
  EXPECT_FALSE(b.writable()) << "the parts still show these octets";
  EXPECT_FALSE(b.trim_front(1));
  a.release();
  tail.release();
  EXPECT_TRUE(b.writable());
}

TEST(HeapBuffer, a_part_that_is_shared_keeps_its_edges) {
  HeapPool pool;
  HeapBuffer head = pool.make(sequence(6));
  HeapBuffer tail = head.split(3);
  HeapBuffer copy = tail.share();
  EXPECT_FALSE(tail.trim_front(1));
  HeapBuffer rest = tail.split(1);
  EXPECT_EQ(content(copy), (std::vector<std::uint8_t>{4, 5, 6}));
  EXPECT_EQ(content(tail), (std::vector<std::uint8_t>{4}));
  EXPECT_TRUE(copy.trim_front(1)) << "the only handle of its edges again";
}

TEST(HeapBuffer, a_pool_at_its_limit_refuses_and_changes_nothing) {
  HeapPool pool({.limit = 2});
  HeapBuffer a = pool.make(sequence(6));
  EXPECT_FALSE(a.split(3)) << "head and tail would be the second and third buffer";
  EXPECT_EQ(content(a), sequence(6));
  EXPECT_TRUE(a.writable());
  EXPECT_EQ(pool.live(), 1U);
  HeapBuffer b = pool.make(1U);
  EXPECT_TRUE(b);
  EXPECT_FALSE(pool.make(1U));
  EXPECT_TRUE(a.share()) << "a reference needs no buffer";
}

TEST(HeapBuffer, a_write_to_a_shared_buffer_is_seen) {
  HeapPool pool;
  HeapBuffer a = pool.make(sequence(4));
  std::uint8_t* const stale = a.mutable_data();
  HeapBuffer b = a.share();
  EXPECT_TRUE(b.intact());
  stale[3] ^= 1;
  EXPECT_FALSE(a.intact());
  EXPECT_FALSE(b.intact());
  stale[3] ^= 1;
  EXPECT_TRUE(b.intact());
}

TEST(HeapBuffer, a_write_to_a_part_is_seen) {
  HeapPool pool;
  HeapBuffer head = pool.make(sequence(4));
  std::uint8_t* const stale = head.mutable_data();
  HeapBuffer tail = head.split(2);
  stale[0] ^= 1;
  EXPECT_FALSE(head.intact());
  EXPECT_FALSE(tail.intact()) << "the storage is frozen as a whole";
  stale[0] ^= 1;
}

TEST(HeapBuffer, the_last_holder_may_write_again_if_it_asks) {
  HeapPool pool;
  HeapBuffer a = pool.make(sequence(4));
  a.share().release();
  std::uint8_t* const octets_again = a.mutable_data();
  ASSERT_NE(octets_again, nullptr);
  octets_again[0] = 0;
  EXPECT_TRUE(a.intact());
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

TEST(HeapBuffer, a_reference_may_be_released_by_another_thread) {
  HeapPool pool;
  for (int i = 0; i < 200; ++i) {
    HeapBuffer a = pool.make(sequence(64));
    std::thread consumer([b = a.share()]() mutable { b.release(); });
    HeapBuffer tail = a.split(10);
    a.release();
    tail.release();
    consumer.join();
  }
  EXPECT_EQ(pool.live(), 0U);
}

}  // namespace
}  // namespace splitplane::buf

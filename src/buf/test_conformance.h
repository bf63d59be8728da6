// For tests only: what PacketBuffer promises, as one suite for every implementation. An entity that was tested on one
// behaves alike on the others. A model makes the buffers: see HeapModel in heap_buffer_test.cpp.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>
#include <thread>
#include <utility>

#include "buf/test_buffer_family.h"

namespace splitplane::buf::test {

template <class Model>
class BufferModel : public testing::Test {};
TYPED_TEST_SUITE_P(BufferModel);

TYPED_TEST_P(BufferModel, holds_its_content_with_the_asked_room) {
  TypeParam model({.headroom = 16, .size = 10, .tailroom = 4});
  const auto buffer = model.make(sequence(10));
  ASSERT_TRUE(buffer);
  EXPECT_EQ(content(buffer), sequence(10));
  EXPECT_EQ(buffer.headroom(), 16U);
  EXPECT_EQ(buffer.tailroom(), 4U);
  EXPECT_TRUE(buffer.writable());
}

TYPED_TEST_P(BufferModel, prepend_and_append_give_the_new_octets_until_the_room_is_used) {
  TypeParam model({.headroom = 3, .size = 2, .tailroom = 2});
  auto buffer = model.make(sequence(2));
  std::uint8_t* const front = buffer.prepend(3);
  ASSERT_NE(front, nullptr);
  std::fill_n(front, 3, std::uint8_t{9});
  std::uint8_t* const back = buffer.append(2);
  ASSERT_NE(back, nullptr);
  std::fill_n(back, 2, std::uint8_t{7});
  EXPECT_EQ(content(buffer), (Bytes{9, 9, 9, 1, 2, 7, 7}));
  EXPECT_EQ(buffer.prepend(1), nullptr);
  EXPECT_EQ(buffer.append(1), nullptr);
  EXPECT_EQ(buffer.prepend(0), buffer.data());
  EXPECT_EQ(buffer.size(), 7U);
}

TYPED_TEST_P(BufferModel, trim_moves_the_edges_and_refuses_more_than_there_is) {
  TypeParam model({.headroom = 0, .size = 6, .tailroom = 0});
  auto buffer = model.make(sequence(6));
  EXPECT_TRUE(buffer.trim_front(2));
  EXPECT_TRUE(buffer.trim_back(1));
  EXPECT_EQ(content(buffer), (Bytes{3, 4, 5}));
  EXPECT_EQ(buffer.headroom(), 2U);
  EXPECT_EQ(buffer.tailroom(), 1U);
  EXPECT_FALSE(buffer.trim_front(4));
  EXPECT_FALSE(buffer.trim_back(4));
  EXPECT_EQ(content(buffer), (Bytes{3, 4, 5}));
  EXPECT_TRUE(buffer.trim_front(3));
  EXPECT_EQ(buffer.size(), 0U);
}

TYPED_TEST_P(BufferModel, huge_counts_are_refused) {
  TypeParam model({.headroom = 8, .size = 8, .tailroom = 8});
  auto buffer = model.make(sequence(8));
  for (const std::size_t huge :
       {std::numeric_limits<std::size_t>::max(), std::size_t{1} << 32, std::size_t{65536}, std::size_t{65536 + 4}}) {
    EXPECT_EQ(buffer.prepend(huge), nullptr);
    EXPECT_EQ(buffer.append(huge), nullptr);
    EXPECT_FALSE(buffer.trim_front(huge));
    EXPECT_FALSE(buffer.trim_back(huge));
    EXPECT_FALSE(buffer.split(huge));
  }
  EXPECT_EQ(content(buffer), sequence(8));
  EXPECT_EQ(model.live(), 1U);
}

TYPED_TEST_P(BufferModel, an_empty_handle_refuses_everything) {
  typename TypeParam::Buffer empty;
  EXPECT_FALSE(empty);
  EXPECT_EQ(empty.data(), nullptr);
  EXPECT_EQ(empty.size(), 0U);
  EXPECT_FALSE(empty.writable());
  EXPECT_EQ(empty.headroom(), 0U);
  EXPECT_EQ(empty.tailroom(), 0U);
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

TYPED_TEST_P(BufferModel, moving_empties_the_source_and_releases_what_the_target_held) {
  TypeParam model({.size = 5});
  auto a = model.make(sequence(3));
  auto b = model.make(sequence(5));
  EXPECT_EQ(model.live(), 2U);
  b = std::move(a);
  EXPECT_EQ(model.live(), 1U);
  EXPECT_FALSE(a);  // NOLINT(bugprone-use-after-move): what a move leaves is part of the concept
  EXPECT_EQ(content(b), sequence(3));
}

TYPED_TEST_P(BufferModel, a_shared_buffer_is_the_same_octets_and_refuses_changes_until_one_handle_is_left) {
  TypeParam model({.headroom = 8, .size = 8, .tailroom = 8});
  auto a = model.make(sequence(8));
  auto b = a.share();
  EXPECT_EQ(a.data(), b.data());
  EXPECT_EQ(model.live(), 1U);
  for (auto* handle : {&a, &b}) {
    EXPECT_FALSE(handle->writable());
    EXPECT_EQ(handle->mutable_data(), nullptr);
    EXPECT_EQ(handle->prepend(1), nullptr);
    EXPECT_EQ(handle->append(1), nullptr);
    EXPECT_FALSE(handle->trim_front(1));
    EXPECT_FALSE(handle->trim_back(1));
    EXPECT_EQ(handle->headroom(), 0U);
    EXPECT_EQ(handle->tailroom(), 0U);
    EXPECT_EQ(content(*handle), sequence(8));
  }
  a.release();
  EXPECT_FALSE(a);
  EXPECT_TRUE(b.writable());
  EXPECT_NE(b.prepend(8), nullptr);
  b.release();
  EXPECT_EQ(model.live(), 0U);
}

TYPED_TEST_P(BufferModel, split_gives_two_immutable_parts_of_the_same_storage) {
  TypeParam model({.headroom = 8, .size = 10, .tailroom = 8});
  auto head = model.make(sequence(10));
  const std::uint8_t* const first = head.data();
  auto tail = head.split(4);
  ASSERT_TRUE(tail);
  EXPECT_EQ(content(head), sequence(4));
  EXPECT_EQ(content(tail), (Bytes{5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(head.data(), first);
  EXPECT_EQ(tail.data(), first + 4);
  for (auto* part : {&head, &tail}) {
    EXPECT_FALSE(part->writable());
    EXPECT_EQ(part->prepend(1), nullptr) << "these octets belong to the other part";
    EXPECT_EQ(part->append(1), nullptr);
  }
  EXPECT_TRUE(tail.trim_front(1));
  EXPECT_TRUE(head.trim_back(1));
  auto rest = tail.split(2);
  EXPECT_EQ(content(head), sequence(3));
  EXPECT_EQ(content(tail), (Bytes{6, 7}));
  EXPECT_EQ(content(rest), (Bytes{8, 9, 10}));
  head.release();
  rest.release();
  EXPECT_EQ(content(tail), (Bytes{6, 7}));
  EXPECT_FALSE(tail.writable()) << "a part stays a part";
  tail.release();
  EXPECT_EQ(model.live(), 0U) << "the storage went with its last part";
}

TYPED_TEST_P(BufferModel, split_at_either_end_gives_an_empty_part) {
  TypeParam model({.size = 4});
  auto buffer = model.make(sequence(4));
  auto nothing = buffer.split(4);
  ASSERT_TRUE(nothing);
  EXPECT_EQ(nothing.size(), 0U);
  auto all = buffer.split(0);
  EXPECT_EQ(buffer.size(), 0U);
  EXPECT_EQ(content(all), sequence(4));
  EXPECT_FALSE(all.split(5));
}

TYPED_TEST_P(BufferModel, splitting_one_handle_of_a_shared_buffer_leaves_the_other_as_it_was) {
  TypeParam model({.size = 6});
  auto a = model.make(sequence(6));
  auto b = a.share();
  auto tail = a.split(2);
  EXPECT_EQ(content(a), sequence(2));
  EXPECT_EQ(content(tail), (Bytes{3, 4, 5, 6}));
  EXPECT_EQ(content(b), sequence(6));
  EXPECT_FALSE(b.writable()) << "the parts still show these octets";
  EXPECT_FALSE(b.trim_front(1));
  a.release();
  tail.release();
  EXPECT_TRUE(b.writable());
}

TYPED_TEST_P(BufferModel, a_part_that_is_shared_keeps_its_edges) {
  TypeParam model({.size = 6});
  auto head = model.make(sequence(6));
  auto tail = head.split(3);
  auto copy = tail.share();
  EXPECT_FALSE(tail.trim_front(1));
  auto rest = tail.split(1);
  EXPECT_EQ(content(copy), (Bytes{4, 5, 6}));
  EXPECT_EQ(content(tail), (Bytes{4}));
  EXPECT_EQ(content(rest), (Bytes{5, 6}));
  EXPECT_TRUE(copy.trim_front(1)) << "the only handle of its edges again";
}

TYPED_TEST_P(BufferModel, a_pool_at_its_limit_refuses_and_changes_nothing) {
  TypeParam model({.size = 6, .limit = 2});
  auto a = model.make(sequence(6));
  EXPECT_FALSE(a.split(3)) << "head and tail would be the second and third buffer";
  EXPECT_EQ(content(a), sequence(6));
  EXPECT_TRUE(a.writable());
  EXPECT_EQ(model.live(), 1U);
  auto b = model.make(sequence(1));
  EXPECT_TRUE(b);
  EXPECT_FALSE(model.make(sequence(1)));
  EXPECT_TRUE(a.share()) << "a reference needs no buffer";
}

TYPED_TEST_P(BufferModel, the_last_holder_may_write_again_if_it_asks) {
  TypeParam model({.size = 4});
  auto a = model.make(sequence(4));
  a.share().release();
  std::uint8_t* const again = a.mutable_data();
  ASSERT_NE(again, nullptr);
  again[0] = 0;
  EXPECT_TRUE(a.intact());
}

TYPED_TEST_P(BufferModel, a_reference_may_be_released_by_another_thread) {
  TypeParam model({.size = 64, .limit = 8});
  for (int i = 0; i < 100; ++i) {
    auto a = model.make(sequence(64));
    std::thread consumer([b = a.share()]() mutable { b.release(); });
    auto tail = a.split(10);
    a.release();
    tail.release();
    consumer.join();
  }
  EXPECT_EQ(model.live(), 0U);
}

TYPED_TEST_P(BufferModel, a_write_to_a_shared_buffer_or_a_part_is_seen_where_it_is_checked) {
  TypeParam model({.size = 4});
  auto a = model.make(sequence(4));
  std::uint8_t* const stale = a.mutable_data();
  auto b = a.share();
  EXPECT_TRUE(b.intact());
  stale[3] ^= 1;
  EXPECT_EQ(a.intact(), !TypeParam::kChecks);
  EXPECT_EQ(b.intact(), !TypeParam::kChecks);
  stale[3] ^= 1;
  EXPECT_TRUE(b.intact());
  auto tail = a.split(2);
  stale[0] ^= 1;
  EXPECT_EQ(tail.intact(), !TypeParam::kChecks) << "the storage is frozen as a whole";
  stale[0] ^= 1;
}

TYPED_TEST_P(BufferModel, a_buffer_used_again_is_not_held_to_the_checksum_of_its_earlier_life) {
  TypeParam model({.size = 8, .limit = 1});
  model.make(sequence(8)).share().release();
  auto again = model.make(Bytes(8, 0x77));
  EXPECT_TRUE(again.intact());
  ASSERT_NE(again.mutable_data(), nullptr);
}

TYPED_TEST_P(BufferModel, random_operations_agree_with_vectors) {
  EXPECT_TRUE(rc::check([] {
    BufferFamily<TypeParam> family;
    const int steps = *rc::gen::inRange(1, 120);
    for (int i = 0; i < steps; ++i) {
      family.step();
      family.compare();
    }
    family.finish();
  }));
}

REGISTER_TYPED_TEST_SUITE_P(
    BufferModel, holds_its_content_with_the_asked_room, prepend_and_append_give_the_new_octets_until_the_room_is_used,
    trim_moves_the_edges_and_refuses_more_than_there_is, huge_counts_are_refused, an_empty_handle_refuses_everything,
    moving_empties_the_source_and_releases_what_the_target_held,
    a_shared_buffer_is_the_same_octets_and_refuses_changes_until_one_handle_is_left,
    split_gives_two_immutable_parts_of_the_same_storage, split_at_either_end_gives_an_empty_part,
    splitting_one_handle_of_a_shared_buffer_leaves_the_other_as_it_was, a_part_that_is_shared_keeps_its_edges,
    a_pool_at_its_limit_refuses_and_changes_nothing, the_last_holder_may_write_again_if_it_asks,
    a_reference_may_be_released_by_another_thread, a_write_to_a_shared_buffer_or_a_part_is_seen_where_it_is_checked,
    a_buffer_used_again_is_not_held_to_the_checksum_of_its_earlier_life, random_operations_agree_with_vectors);

}  // namespace splitplane::buf::test

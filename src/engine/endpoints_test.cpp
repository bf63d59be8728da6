// Sources that receive ahead: no packet is dropped, doubled or late.
#include "engine/endpoints.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "engine/test_environment.h"

namespace splitplane::datapath {
namespace {

using test::Bytes;

// Hands out numbers in bursts of scripted sizes, as mbufs of one pool.
struct Scripted {
  struct State {
    test::Pool pool{256, 64};
    std::vector<unsigned> sizes;
    std::size_t next = 0;
    std::uint8_t number = 0;
    unsigned polls = 0;
  };
  State* state = nullptr;

  unsigned receive(Burst& burst) {
    ++state->polls;
    burst.size = state->next < state->sizes.size() ? state->sizes[state->next++] : 0;
    for (unsigned i = 0; i < burst.size; ++i) burst.mbuf[i] = state->pool.make({state->number++});
    return burst.size;
  }
};

// The numbers of a burst, which is freed.
Bytes consume(const Burst& burst) {
  Bytes numbers;
  for (unsigned i = 0; i < burst.size; ++i) {
    numbers.push_back(*rte_pktmbuf_mtod(burst.mbuf[i], const std::uint8_t*));
    rte_pktmbuf_free(burst.mbuf[i]);
  }
  return numbers;
}

TEST(Lookahead, a_burst_that_is_not_full_is_passed_on_at_once) {
  Scripted::State state;
  state.sizes = {1, 31, 0, 5};
  Lookahead<Scripted> queue{Scripted{&state}};
  Burst burst;
  for (const unsigned size : state.sizes) {
    EXPECT_EQ(queue.receive(burst), size);
    EXPECT_EQ(burst.ahead_size, 0U);
    EXPECT_EQ(consume(burst).size(), size);
    EXPECT_EQ(state.pool.in_use(), 0U) << "nothing waits";
  }
  EXPECT_EQ(state.polls, 4U);
}

TEST(Lookahead, behind_a_full_burst_the_next_one_is_already_there) {
  Scripted::State state;
  state.sizes = {kBurst, 3};
  Lookahead<Scripted> queue{Scripted{&state}};
  Burst burst;
  EXPECT_EQ(queue.receive(burst), kBurst);
  ASSERT_EQ(burst.ahead_size, 3U);
  EXPECT_EQ(*rte_pktmbuf_mtod(burst.ahead[0], const std::uint8_t*), kBurst);
  for (unsigned i = 0; i < kBurst; ++i) {
    burst.prefetch_mbuf_ahead(i);
    burst.prefetch_octets_ahead(i);
  }
  (void)consume(burst);
  EXPECT_EQ(queue.receive(burst), 3U);
  EXPECT_EQ(burst.ahead_size, 0U);
  EXPECT_EQ(consume(burst), (Bytes{32, 33, 34}));
}

TEST(Lookahead, what_it_holds_can_be_taken_without_receiving_more) {
  Scripted::State state;
  state.sizes = {kBurst, kBurst, kBurst};
  Lookahead<Scripted> queue{Scripted{&state}};
  Burst burst;
  EXPECT_EQ(queue.take_held(burst), 0U);
  EXPECT_EQ(queue.receive(burst), kBurst);
  (void)consume(burst);
  EXPECT_EQ(queue.take_held(burst), kBurst);
  EXPECT_EQ(burst.ahead_size, 0U) << "what is ahead is gone";
  (void)consume(burst);
  EXPECT_EQ(queue.take_held(burst), 0U);
  EXPECT_EQ(state.polls, 2U);
}

TEST(Lookahead, at_the_end_a_port_is_not_asked_again_and_a_ring_is_emptied) {
  Scripted::State state;
  state.sizes = {kBurst, 3, 5};
  Lookahead<Scripted> port{Scripted{&state}};
  Burst burst;
  ASSERT_EQ(port.receive(burst), kBurst);
  (void)consume(burst);
  EXPECT_EQ(port.take_left(burst), 3U);
  (void)consume(burst);
  EXPECT_EQ(port.take_left(burst), 0U) << "a port never ends";

  test::Pool pool;
  test::Ring ring(128);
  for (std::uint8_t n = 0; n < 100; ++n) ASSERT_EQ(rte_ring_sp_enqueue(ring.get(), pool.make({n})), 0);
  Lookahead<RingSource> queue{RingSource{ring.get()}};
  Bytes seen;
  for (unsigned size = queue.receive(burst); size != 0; size = queue.take_left(burst)) {
    const Bytes numbers = consume(burst);
    seen.insert(seen.end(), numbers.begin(), numbers.end());
  }
  ASSERT_EQ(seen.size(), 100U);
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], i);
}

TEST(Lookahead, packets_keep_their_order_and_none_is_lost_or_doubled) {
  EXPECT_TRUE(rc::check([] {
    Scripted::State state;
    state.sizes = *rc::gen::container<std::vector<unsigned>>(rc::gen::weightedOneOf<unsigned>(
        {{2, rc::gen::just(kBurst)}, {1, rc::gen::just(0U)}, {1, rc::gen::inRange(0U, kBurst)}}));
    unsigned total = 0;
    for (const unsigned size : state.sizes) total += size;
    Lookahead<Scripted> queue{Scripted{&state}};
    Bytes seen;
    Burst burst;
    const std::size_t rounds = *rc::gen::inRange<std::size_t>(0, state.sizes.size() + 2);
    for (std::size_t i = 0; i < rounds; ++i) {
      (void)queue.receive(burst);
      const Bytes numbers = consume(burst);
      seen.insert(seen.end(), numbers.begin(), numbers.end());
    }
    if (queue.take_held(burst) != 0) {
      const Bytes numbers = consume(burst);
      seen.insert(seen.end(), numbers.begin(), numbers.end());
    }
    for (std::size_t i = 0; i < seen.size(); ++i) RC_ASSERT(seen[i] == static_cast<std::uint8_t>(i));
    if (state.next == state.sizes.size()) {
      RC_ASSERT(seen.size() == total);
    }
    RC_ASSERT(state.pool.in_use() == 0U);
  }));
}

TEST(RingSource, takes_a_burst_at_most) {
  test::Pool pool;
  test::Ring ring(64);
  for (std::uint8_t n = 0; n < 40; ++n) ASSERT_EQ(rte_ring_sp_enqueue(ring.get(), pool.make({n})), 0);
  RingSource source{ring.get()};
  Burst burst;
  ASSERT_EQ(source.receive(burst), kBurst);
  EXPECT_EQ(consume(burst)[31], 31);
  ASSERT_EQ(source.receive(burst), 8U);
  EXPECT_EQ(consume(burst)[0], 32);
  EXPECT_EQ(source.receive(burst), 0U);
}

}  // namespace
}  // namespace splitplane::datapath

#include "ran/rlc/sdu_queue.h"

#include <deque>

#include "ran/rlc/test_entities.h"

namespace splitplane::ran::rlc::test {
namespace {

struct Queue : Home {
  explicit Queue(std::uint32_t limit = 100000, const MemorySizes& sizes = kSmall) : Home(sizes), queue(memory, limit) {}
  ~Queue() { queue.clear(); }
  bool push(std::size_t bytes, unsigned salt = 0) {
    Buffer sdu = make(pattern(bytes, salt));
    return queue.push(sdu);
  }
  SduQueue<Buffer> queue;
};

TEST(SduQueue, gives_what_it_took_in_order) {
  Queue q;
  for (unsigned i = 0; i < 200; ++i) ASSERT_TRUE(q.push(10 + i, i));
  EXPECT_EQ(q.queue.size(), 200U);
  EXPECT_EQ(q.queue.octets(), 200U * 10 + 199 * 200 / 2);
  for (unsigned i = 0; i < 200; ++i) {
    ASSERT_NE(q.queue.front(), nullptr);
    EXPECT_EQ(to_hex(buf::octets(*q.queue.front())), to_hex(pattern(10 + i, i)));
    EXPECT_EQ(q.queue.take().size(), 10 + i);
    EXPECT_EQ(q.queue.taken(), i);
  }
  EXPECT_EQ(q.queue.front(), nullptr);
  EXPECT_FALSE(q.queue.take());
  EXPECT_EQ(q.queue.octets(), 0U);
  EXPECT_TRUE(q.memory.unused());  // an empty queue holds nothing
}

TEST(SduQueue, shows_what_it_will_give_over_the_end_of_a_page) {
  Queue q;
  EXPECT_EQ(q.queue.ahead(0), nullptr);
  for (unsigned i = 0; i < 200; ++i) ASSERT_TRUE(q.push(10 + i, i));
  for (unsigned i = 0; i < 200; ++i) {
    for (const unsigned n : {0U, 1U, 8U, 64U}) {
      const Buffer* const ahead = q.queue.ahead(n);
      ASSERT_EQ(ahead != nullptr, i + n < 200) << i << " " << n;
      ASSERT_EQ(ahead == nullptr ? 0 : ahead->size(), i + n < 200 ? 10 + i + n : 0);
    }
    (void)q.queue.take();
  }
}

TEST(SduQueue, refuses_at_its_limit_and_what_rlc_cannot_number) {
  Queue q(3);
  EXPECT_FALSE(q.push(0));
  EXPECT_FALSE(q.push(kMaxSduBytes + 1));
  EXPECT_TRUE(q.push(kMaxSduBytes));
  EXPECT_TRUE(q.push(1));
  EXPECT_TRUE(q.push(1));
  Buffer sdu = q.make(pattern(5));
  EXPECT_FALSE(q.queue.push(sdu));
  EXPECT_TRUE(sdu);  // still the caller's
  EXPECT_EQ(q.queue.next_ordinal(), 3U);
  sdu.release();
  EXPECT_TRUE(q.queue.discard(1));
  EXPECT_TRUE(q.push(1));  // a discarded one makes room
}

TEST(SduQueue, refuses_without_a_page_and_goes_on_when_there_is_one) {
  MemorySizes sizes = kSmall;
  sizes.queue_pages = 2;
  Queue q(100000, sizes);
  unsigned count = 0;
  while (q.push(2, count)) ++count;
  EXPECT_EQ(count, 128U);
  EXPECT_EQ(q.queue.next_ordinal(), 128U);
  for (unsigned i = 0; i < 64; ++i) EXPECT_TRUE(q.queue.take());
  EXPECT_TRUE(q.push(2));
  EXPECT_EQ(q.queue.size(), 65U);
}

TEST(SduQueue, discards_by_ordinal_once_and_never_what_was_taken) {
  Queue q;
  for (unsigned i = 0; i < 150; ++i) ASSERT_TRUE(q.push(1, i));
  EXPECT_EQ(q.queue.take().size(), 1U);
  EXPECT_FALSE(q.queue.discard(0));
  EXPECT_FALSE(q.queue.discard(150));
  EXPECT_TRUE(q.queue.discard(149));
  EXPECT_FALSE(q.queue.discard(149));
  for (std::uint64_t i = 1; i < 100; ++i) EXPECT_TRUE(q.queue.discard(i));
  EXPECT_EQ(q.queue.size(), 49U);
  const Buffer next = q.queue.take();
  EXPECT_EQ(to_hex(buf::octets(next)), to_hex(pattern(1, 100)));
  EXPECT_EQ(q.queue.taken(), 100U);
}

TEST(SduQueue, clear_gives_everything_back_and_begins_anew) {
  Queue q;
  for (unsigned i = 0; i < 150; ++i) ASSERT_TRUE(q.push(1, i));
  EXPECT_TRUE(q.queue.discard(70));
  q.queue.clear();
  EXPECT_TRUE(q.memory.unused());
  EXPECT_EQ(q.pool.live(), 0U);
  EXPECT_EQ(q.queue.size(), 0U);
  EXPECT_EQ(q.queue.octets(), 0U);
  EXPECT_EQ(q.queue.next_ordinal(), 0U);
  EXPECT_TRUE(q.push(1));
}

TEST(SduQueue, agrees_with_a_deque_in_any_order) {
  Queue q(300);
  struct Entry {
    std::uint64_t ordinal;
    std::size_t bytes;
  };
  std::deque<Entry> model;
  Random random(7);
  std::uint64_t ordinal = 0;
  for (int step = 0; step < 50000; ++step) {
    const unsigned what = random() % 8;
    if (what < 4) {
      const std::size_t bytes = 1 + random() % 9;
      const bool taken = q.push(bytes);
      ASSERT_EQ(taken, model.size() < 300);
      if (taken) model.push_back({ordinal++, bytes});
    } else if (what < 6) {
      const Buffer sdu = q.queue.take();
      ASSERT_EQ(static_cast<bool>(sdu), !model.empty());
      if (model.empty()) continue;
      ASSERT_EQ(sdu.size(), model.front().bytes);
      ASSERT_EQ(q.queue.taken(), model.front().ordinal);
      model.pop_front();
    } else {
      const std::uint64_t victim = ordinal - std::min<std::uint64_t>(ordinal, random() % 320);
      const auto it =
          std::find_if(model.begin(), model.end(), [victim](const Entry& e) { return e.ordinal == victim; });
      ASSERT_EQ(q.queue.discard(victim), it != model.end());
      if (it != model.end()) model.erase(it);
    }
    ASSERT_EQ(q.queue.size(), model.size());
  }
}

}  // namespace
}  // namespace splitplane::ran::rlc::test

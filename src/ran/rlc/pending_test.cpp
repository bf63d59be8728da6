#include "ran/rlc/pending.h"

#include <bitset>

#include "ran/rlc/test_entities.h"

namespace splitplane::ran::rlc::test {
namespace {

struct List {
  explicit List(std::size_t intervals) : pool(intervals), size(intervals), list(pool, volume) {}
  ~List() {
    list.clear(runs);
    EXPECT_EQ(pool.available(), size);
    EXPECT_EQ(volume.octets(), 0U);
  }
  bool add(std::uint16_t start, std::uint16_t stop) { return list.add(runs, start, stop, near); }
  void take(std::uint16_t octets) {
    near = 0;
    list.take(runs, octets);
  }
  [[nodiscard]] std::string text() const {
    std::string out;
    for (std::uint32_t at = runs.first; at != 0; at = pool.named(at).next) {
      out += std::to_string(pool.named(at).start) + "-" + std::to_string(pool.named(at).stop) + " ";
    }
    return out;
  }
  Pool<Interval> pool;
  std::size_t size;
  PendingVolume volume{12};
  PendingIntervals list;
  PendingRuns runs;
  std::uint32_t near = 0;
};

TEST(PendingIntervals, keep_order_whatever_the_order_of_addition) {
  List l(8);
  EXPECT_TRUE(l.add(50, 60));
  EXPECT_TRUE(l.add(10, 20));
  EXPECT_TRUE(l.add(30, 40));
  EXPECT_EQ(l.text(), "10-20 30-40 50-60 ");
}

TEST(PendingIntervals, merge_what_overlaps_or_touches) {
  List l(8);
  EXPECT_TRUE(l.add(10, 20));
  EXPECT_TRUE(l.add(20, 30));
  EXPECT_EQ(l.text(), "10-30 ");
  EXPECT_TRUE(l.add(5, 10));
  EXPECT_EQ(l.text(), "5-30 ");
  EXPECT_TRUE(l.add(40, 50));
  EXPECT_TRUE(l.add(60, 70));
  EXPECT_TRUE(l.add(25, 65));
  EXPECT_EQ(l.text(), "5-70 ");
  EXPECT_TRUE(l.add(6, 7));
  EXPECT_EQ(l.text(), "5-70 ");
  EXPECT_EQ(l.pool.available(), 7U);
}

TEST(PendingIntervals, are_taken_from_the_lowest_octet) {
  List l(8);
  EXPECT_TRUE(l.add(10, 20));
  EXPECT_TRUE(l.add(30, 35));
  l.take(4);
  EXPECT_EQ(l.text(), "14-20 30-35 ");
  l.take(6);
  EXPECT_EQ(l.text(), "30-35 ");
  l.take(5);
  EXPECT_EQ(l.runs.first, 0U);
}

TEST(PendingIntervals, grow_over_a_gap_without_memory_and_forget_nothing) {
  List l(2);
  EXPECT_TRUE(l.add(10, 20));
  EXPECT_TRUE(l.add(50, 60));
  EXPECT_TRUE(l.add(30, 40));  // the next one grows down
  EXPECT_EQ(l.text(), "10-20 30-60 ");
  EXPECT_TRUE(l.add(70, 80));  // the last one grows up
  EXPECT_EQ(l.text(), "10-20 30-80 ");
  EXPECT_TRUE(l.add(2, 4));
  EXPECT_EQ(l.text(), "2-20 30-80 ");
  List none(0);
  EXPECT_FALSE(none.add(1, 2));
}

TEST(PendingIntervals, are_at_most_255_of_an_sdu) {
  List l(1000);
  for (std::uint16_t at = 10; at < 3010; at = static_cast<std::uint16_t>(at + 10)) {
    EXPECT_TRUE(l.add(at, static_cast<std::uint16_t>(at + 5)));
  }
  EXPECT_EQ(l.runs.count, PendingIntervals::kMostRuns);
  EXPECT_EQ(l.pool.available(), 1000U - PendingIntervals::kMostRuns);
  EXPECT_EQ(l.text().substr(l.text().find("2540-")), "2540-2545 2550-3005 ");
  EXPECT_TRUE(l.add(1, 2));  // the one behind it grows
  EXPECT_EQ(l.text().substr(0, 5), "1-15 ");
}

TEST(PendingIntervals, agree_with_a_set_of_octets) {
  for (const std::size_t memory : {std::size_t{200}, std::size_t{3}}) {
    List l(memory);
    std::bitset<400> wanted;
    Random random(3);
    for (int step = 0; step < 20000; ++step) {
      if (random() % 3 != 0 || l.runs.first == 0) {
        const auto start = static_cast<std::uint16_t>(random() % 399);
        const auto stop = static_cast<std::uint16_t>(start + 1 + random() % std::min(12U, 400U - start - 0U));
        if (stop > 400) continue;
        ASSERT_TRUE(l.add(start, stop));
        for (unsigned i = start; i < stop; ++i) wanted.set(i);
      } else {
        const Interval front = PendingIntervals::front(l.pool, l.runs);
        const auto octets = static_cast<std::uint16_t>(1 + random() % static_cast<unsigned>(front.stop - front.start));
        l.take(octets);
        for (unsigned i = front.start; i < front.start + octets; ++i) wanted.reset(i);
      }
      std::bitset<400> held;
      std::uint32_t last_stop = 0, count = 0;
      for (std::uint32_t at = l.runs.first; at != 0; at = l.pool.named(at).next) {
        const Interval& one = l.pool.named(at);
        ASSERT_LT(one.start, one.stop);
        ASSERT_TRUE(last_stop == 0 || one.start > last_stop) << l.text();
        for (unsigned i = one.start; i < one.stop; ++i) held.set(i);
        last_stop = one.stop;
        ++count;
      }
      ASSERT_EQ(l.runs.count, count);
      ASSERT_EQ(l.volume.octets(), held.count() + 4 * count - (held[0] ? 2 : 0));
      ASSERT_EQ(wanted & ~held, std::bitset<400>()) << l.text();
      if (memory == 200) {
        ASSERT_EQ(held, wanted);
      } else {
        wanted = held;
      }
    }
  }
}

}  // namespace
}  // namespace splitplane::ran::rlc::test

#include "ran/rlc/received_window.h"

#include <map>
#include <set>

#include "ran/rlc/test_entities.h"

namespace splitplane::ran::rlc::test {
namespace {

struct ReceivedWindowHome : Home {
  explicit ReceivedWindowHome(unsigned sn_bits) : window(sn_bits, memory.directories, memory.received_pages) {}
  void done(std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t sn = from; sn != to; ++sn) window.set_done(*window.page(sn), sn);
  }
  void clear(std::uint32_t from, std::uint32_t to) {
    window.clear(from, to, [this](std::uint32_t name) { discarded.push_back(name); });
  }
  ReceivedWindow window;
  std::vector<std::uint32_t> discarded;
};

TEST(ReceivedWindow, passes_over_runs_of_complete_sdus) {
  for (const std::uint32_t base : {0U, 4000U, 262100U, 0xFFFFFF00U}) {
    ReceivedWindowHome w(18);
    w.done(base, base + 1000);
    w.done(base + 1001, base + 2000);
    EXPECT_EQ(w.window.first_not_done(base, base + 3000), base + 1000);
    EXPECT_EQ(w.window.first_not_done(base + 1001, base + 3000), base + 2000);
    EXPECT_EQ(w.window.first_not_done(base, base + 500), base + 500);
    EXPECT_EQ(w.window.first_not_done(base + 7, base + 7), base + 7);
    EXPECT_TRUE(w.window.is_done(base + 999));
    EXPECT_FALSE(w.window.is_done(base + 1000));
    w.clear(base, base + 3000);
    EXPECT_TRUE(w.window.empty());
  }
}

TEST(ReceivedWindow, finds_the_next_one_that_was_touched) {
  ReceivedWindowHome w(12);
  EXPECT_EQ(w.window.first_touched(0, 2048), 2048U);
  w.done(700, 701);
  w.window.set_assembly(*w.window.page(300), 300, 17);
  EXPECT_EQ(w.window.first_touched(0, 2048), 300U);
  EXPECT_EQ(w.window.first_touched(0, 200), 200U);
  EXPECT_EQ(w.window.first_touched(301, 2048), 700U);
  EXPECT_EQ(w.window.assembly(300), 17U);
  EXPECT_EQ(w.window.assembly(301), 0U);
  w.clear(0, 2048);
  EXPECT_EQ(w.discarded, std::vector<std::uint32_t>{17});
  EXPECT_TRUE(w.window.empty());
}

TEST(ReceivedWindow, polls_wait_until_they_are_taken) {
  ReceivedWindowHome w(12);
  for (const std::uint32_t sn : {10U, 64U, 130U}) w.window.page(sn)->polled |= ReceivedWindow::bit(sn);
  EXPECT_FALSE(w.window.take_polls(0, 10));
  EXPECT_TRUE(w.window.take_polls(0, 11));
  EXPECT_FALSE(w.window.take_polls(0, 64));
  EXPECT_TRUE(w.window.take_polls(11, 2000));
  EXPECT_FALSE(w.window.take_polls(0, 2000));
  w.clear(0, 2048);
}

TEST(ReceivedWindow, agrees_with_sets) {
  for (const unsigned sn_bits : {12U, 18U}) {
    ReceivedWindowHome w(sn_bits);
    std::set<std::uint32_t> done;                    // distance from `base`
    std::map<std::uint32_t, std::uint32_t> partial;  // the same: name
    const std::uint32_t base = sn_bits == 12 ? 3900 : 0xFFFFF000U;
    Random random(sn_bits);
    std::uint32_t low = 0, name = 0;
    for (int step = 0; step < 30000; ++step) {
      const std::uint32_t at = low + random() % 1500;
      switch (random() % 6) {
        case 0:
        case 1:
          for (std::uint32_t n = random() % 100, i = at; i < at + n; ++i) {
            w.done(base + i, base + i + 1);
            done.insert(i);
            partial.erase(i);
          }
          break;
        case 2:
          if (done.contains(at) || partial.contains(at)) break;
          partial[at] = ++name;
          w.window.set_assembly(*w.window.page(base + at), base + at, name);
          break;
        case 3: {
          std::uint32_t expected = at;
          while (expected < low + 1600 && done.contains(expected)) ++expected;
          ASSERT_EQ(w.window.first_not_done(base + at, base + low + 1600), base + expected);
          break;
        }
        case 4: {
          std::uint32_t expected = at;
          while (expected < low + 1600 && !done.contains(expected) && !partial.contains(expected)) ++expected;
          ASSERT_EQ(w.window.first_touched(base + at, base + low + 1600), base + expected);
          break;
        }
        default: {
          const std::uint32_t next = low + random() % 60;
          std::vector<std::uint32_t> expected;
          for (; low != next; ++low) {
            done.erase(low);
            if (partial.contains(low)) expected.push_back(partial[low]);
            partial.erase(low);
          }
          w.discarded.clear();
          // From a little lower than what is held: that has to do no harm.
          w.clear(base + low - 60, base + low);
          ASSERT_EQ(w.discarded, expected);
          break;
        }
      }
      const bool is_partial = partial.contains(at);
      ASSERT_EQ(w.window.is_done(base + at), done.contains(at));
      ASSERT_EQ(w.window.assembly(base + at), is_partial ? partial[at] : 0U);
    }
    w.clear(base + low, base + low + 2000);
    EXPECT_TRUE(w.window.empty());
  }
}

}  // namespace
}  // namespace splitplane::ran::rlc::test

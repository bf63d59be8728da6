#include "ran/pdcp/reorder_window.h"

#include "ran/pdcp/test_entities.h"

namespace splitplane::ran::pdcp::test {
namespace {

using Taken = std::vector<std::pair<std::uint32_t, Bytes>>;

struct Window : Home {
  explicit Window(unsigned sn_bits, const MemorySizes& sizes = kSmall) : Home(sizes), window(sn_bits, memory) {}
  ~Window() {
    window.take_below(0, kLastCount, [](std::uint32_t, Buffer) {});
  }
  bool add(std::uint32_t count, const Bytes& sdu) {
    Buffer buffer = sdu.empty() ? Buffer() : pool.make(sdu);
    return window.add(count, buffer);
  }
  auto taker(Taken& out) {
    return [&out](std::uint32_t count, Buffer sdu) { out.emplace_back(count, bytes_of(sdu)); };
  }
  ReorderWindow<Buffer> window;
};

TEST(ReorderWindow, delivers_a_run_up_to_the_first_hole) {
  for (const std::uint32_t base : {1U, 4030U, 262'130U, 0xFFFFFE00U}) {
    Window w(12);
    for (std::uint32_t i = 0; i < 200; ++i) {
      if (i != 130) {
        ASSERT_TRUE(w.add(base + i, pattern(3, i)));
      }
    }
    Taken taken;
    EXPECT_EQ(w.window.take_consecutive(base, w.taker(taken)), base + 130);
    EXPECT_EQ(taken.size(), 130U);
    EXPECT_EQ(taken[77], (std::pair{base + 77, pattern(3, 77)}));
    EXPECT_EQ(w.window.take_consecutive(base + 130, w.taker(taken)), base + 130) << "the hole is still there";
    EXPECT_EQ(w.window.highest(), base + 199);
    EXPECT_EQ(w.window.take_consecutive(base + 131, w.taker(taken)), base + 200);
    EXPECT_TRUE(w.window.empty());
  }
}

TEST(ReorderWindow, does_as_a_map_does) {
  Random random(3);
  for (const unsigned bits : {12U, 18U}) {
    Window w(bits, {.directories = 100, .sent_pages = 1, .reorder_pages = 1000, .waiting_pages = 1});
    std::map<std::uint32_t, Bytes> map;
    std::uint32_t deliv = bits == 12 ? 0 : 0xF0000000;
    for (int step = 0; step < 4000; ++step) {
      Taken taken, expected;
      const auto forget = [&](std::map<std::uint32_t, Bytes>::iterator at) {
        if (!at->second.empty()) expected.emplace_back(*at);
        return map.erase(at);
      };
      switch (random() % 8) {
        case 0: {
          const std::uint32_t to = deliv + random() % (window_size(bits) / 4);
          w.window.take_below(deliv, to, w.taker(taken));
          for (auto at = map.begin(); at != map.end() && at->first < to;) at = forget(at);
          deliv = to;
          [[fallthrough]];
        }
        case 1: {
          const std::uint32_t next = w.window.take_consecutive(deliv, w.taker(taken));
          for (auto at = map.find(deliv); at != map.end() && at->first == deliv; ++deliv) at = forget(at);
          ASSERT_EQ(next, deliv);
          break;
        }
        default: {
          const std::uint32_t count = deliv + random() % (random() % 3 == 0 ? window_size(bits) : 100U);
          ASSERT_EQ(w.window.received(count), map.contains(count));
          if (map.contains(count)) break;
          const Bytes sdu = random() % 4 == 0 ? Bytes() : pattern(1 + random() % 3, count);
          if (w.add(count, sdu)) map[count] = sdu;
        }
      }
      ASSERT_EQ(taken, expected);
      ASSERT_EQ(w.window.empty(), map.empty());
      ASSERT_EQ(w.window.held(), std::count_if(map.begin(), map.end(), [](auto& one) { return !one.second.empty(); }));
      if (!map.empty()) {
        ASSERT_EQ(w.window.highest(), map.rbegin()->first);
      }
      std::vector<std::uint32_t> counts, all;
      w.window.for_each([&](std::uint32_t count) { counts.push_back(count); });
      for (const auto& [count, sdu] : map) all.push_back(count);
      ASSERT_EQ(counts, all);
    }
  }
}

TEST(ReorderWindow, one_bearer_gets_at_most_half_of_the_pages_that_are_left) {
  Window w(18, {.directories = 16, .sent_pages = 1, .reorder_pages = 8, .waiting_pages = 1});
  std::uint32_t pages = 0;
  while (w.add(1 + pages * kPageSns, {1})) ++pages;
  EXPECT_EQ(pages, 4U);
  EXPECT_FALSE(w.window.received(1 + pages * kPageSns));
}

}  // namespace
}  // namespace splitplane::ran::pdcp::test

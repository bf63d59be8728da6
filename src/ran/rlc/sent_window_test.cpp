#include "ran/rlc/sent_window.h"

#include <map>

#include "ran/rlc/test_entities.h"

namespace splitplane::ran::rlc::test {
namespace {

struct SentWindowHome : Home {
  explicit SentWindowHome(unsigned sn_bits, std::uint32_t begin = 0, const MemorySizes& sizes = kSmall)
      : Home(sizes), window(sn_bits, memory), lowest(begin), end(begin) {}
  ~SentWindowHome() { window.clear(lowest, end); }
  void add(unsigned count = 1, std::uint16_t bytes = 10) {
    for (; count != 0; --count) window.add(end++, make(pattern(bytes)), bytes);
  }
  std::uint32_t acknowledge(std::uint32_t from, std::uint32_t to) {
    std::uint32_t first = 0;
    const std::uint32_t count = window.acknowledge(from, to, first, [this](Time) { ++repaired; });
    if (count != 0) first_acked = first;
    return count;
  }
  std::vector<std::uint32_t> release(std::uint32_t from, std::uint32_t to, std::size_t budget = 100000) {
    std::vector<std::uint32_t> out;
    stopped = window.release(from, to, end, budget, [&](std::uint32_t sn, Buffer sdu) {
      EXPECT_TRUE(sdu);
      out.push_back(sn);
    });
    return out;
  }
  void set_pending(std::uint32_t sn, std::uint16_t start, std::uint16_t stop) {
    window.set_pending(*window.find(sn), sn, start, stop);
  }
  std::string pending_of(std::uint32_t sn) {
    const Interval i = window.first_pending(*window.find(sn), sn);
    return std::to_string(i.start) + "-" + std::to_string(i.stop);
  }
  // True if none of this SDU wait any more.
  bool take(std::uint32_t sn, std::uint16_t octets) {
    window.take_pending(*window.find(sn), sn, octets);
    return (window.find(sn)->pending & SentWindow<Buffer>::bit(sn)) == 0;
  }

  SentWindow<Buffer> window;
  std::uint32_t lowest, end;
  std::uint32_t first_acked = 0, stopped = 0;
  unsigned repaired = 0;
};

TEST(SentWindow, knows_what_is_open_wherever_the_numbers_are) {
  for (const std::uint32_t begin : {0U, 4090U, 262140U, 0xFFFFFFF0U}) {
    SentWindowHome w(18, begin);
    w.add(200);
    EXPECT_EQ(w.window.unacked(), 200U);
    EXPECT_EQ(w.window.first_open(begin, w.end), begin);
    EXPECT_EQ(w.window.last_open(begin, w.end), w.end - 1);
    EXPECT_EQ(w.acknowledge(begin, begin + 70), 70U);
    EXPECT_EQ(w.first_acked, begin);
    EXPECT_EQ(w.acknowledge(begin, begin + 70), 0U);
    EXPECT_EQ(w.acknowledge(begin + 190, w.end), 10U);
    EXPECT_EQ(w.window.first_open(begin, w.end), begin + 70);
    EXPECT_EQ(w.window.last_open(begin, w.end), begin + 189);
    EXPECT_EQ(w.window.last_open(begin, begin + 70), begin + 70);  // none
    EXPECT_FALSE(w.window.is_open(begin + 69));
    EXPECT_TRUE(w.window.is_open(begin + 70));
    EXPECT_EQ(w.window.unacked(), 120U);
  }
}

TEST(SentWindow, releases_within_a_budget_and_goes_on_where_it_stopped) {
  SentWindowHome w(18, 30);
  w.add(200);
  w.acknowledge(30, 130);
  EXPECT_EQ(w.release(30, 130, 0), std::vector<std::uint32_t>{});
  EXPECT_EQ(w.stopped, 30U);
  EXPECT_EQ(w.release(30, 130, 7).size(), 7U);
  EXPECT_EQ(w.stopped, 37U);
  const auto rest = w.release(37, 130);
  EXPECT_EQ(rest.size(), 93U);
  EXPECT_EQ(rest.front(), 37U);
  EXPECT_EQ(rest.back(), 129U);
  EXPECT_EQ(w.stopped, 130U);
  EXPECT_EQ(w.pool.live(), 100U);
  EXPECT_EQ(w.release(30, 130), std::vector<std::uint32_t>{});
}

TEST(SentWindow, pages_go_when_nothing_can_need_them) {
  SentWindowHome w(12);
  w.add(70);
  EXPECT_EQ(w.memory.sent_pages.available(), 78U);
  w.acknowledge(0, 64);
  w.release(0, 64);
  EXPECT_EQ(w.memory.sent_pages.available(), 79U);
  w.acknowledge(64, 70);
  w.release(64, 70);
  EXPECT_TRUE(w.memory.unused());
  w.add(2);  // in the middle of a page that was given back
  EXPECT_EQ(w.window.first_open(70, 72), 70U);
  EXPECT_EQ(w.window.last_open(64, 72), 71U);
  EXPECT_EQ(w.acknowledge(0, 72), 2U);
  w.release(70, 72);
}

TEST(SentWindow, says_before_how_much_room_there_is) {
  MemorySizes sizes = kSmall;
  sizes.sent_pages = 1;
  SentWindowHome w(12, 60, sizes);
  EXPECT_EQ(w.window.room(60), 4U);
  w.add(3);
  EXPECT_EQ(w.window.room(63), 1U);
  w.add(1);
  EXPECT_EQ(w.window.room(64), 0U);
  w.acknowledge(60, 64);
  w.release(60, 64);
  EXPECT_EQ(w.window.room(64), 64U);
}

TEST(SentWindow, pending_octets_are_taken_from_the_lowest) {
  SentWindowHome w(18);
  w.add(3, 100);
  w.set_pending(1, 10, 20);
  w.set_pending(1, 50, 60);
  w.set_pending(2, 0, 100);
  EXPECT_EQ(w.window.pending(), 2U);
  EXPECT_EQ(w.window.next_pending(0, 3), 1U);
  EXPECT_EQ(w.pending_of(1), "10-20");
  EXPECT_FALSE(w.take(1, 10));
  EXPECT_EQ(w.pending_of(1), "50-60");
  EXPECT_TRUE(w.take(1, 10));
  EXPECT_EQ(w.window.next_pending(0, 3), 2U);
  EXPECT_EQ(w.pending_of(2), "0-100");
  EXPECT_FALSE(w.take(2, 30));
  EXPECT_EQ(w.pending_of(2), "30-100");
  w.set_pending(2, 0, 100);
  EXPECT_EQ(w.pending_of(2), "0-100");
  EXPECT_TRUE(w.take(2, 100));
  EXPECT_EQ(w.window.pending(), 0U);
  EXPECT_EQ(w.window.next_pending(0, 3), 3U);
}

TEST(SentWindow, acknowledgement_ends_what_was_pending) {
  SentWindowHome w(12);
  w.add(4, 100);
  w.window.find(1)->considered |= SentWindow<Buffer>::bit(1);
  w.set_pending(1, 10, 20);
  w.set_pending(3, 0, 100);
  EXPECT_EQ(w.acknowledge(0, 3), 3U);
  EXPECT_EQ(w.repaired, 1U);
  EXPECT_EQ(w.window.pending(), 1U);
  EXPECT_EQ(w.memory.intervals.available(), kSmall.intervals);
  w.release(0, 3);
}

TEST(SentWindow, without_intervals_a_cut_retransmission_still_comes_to_its_end) {
  MemorySizes sizes = kSmall;
  sizes.intervals = 0;
  SentWindowHome w(12, 0, sizes);
  w.add(2, 100);
  w.set_pending(0, 40, 60);
  unsigned octets = 0, steps = 0;
  while (w.window.pending() != 0 && ++steps < 100) {
    const Interval i = w.window.first_pending(*w.window.find(0), 0);
    const auto now = static_cast<std::uint16_t>(std::min(30, i.stop - i.start));
    octets += now;
    w.take(0, now);
  }
  EXPECT_EQ(w.window.pending(), 0U);
  EXPECT_GE(octets, 20U);
}

TEST(SentWindow, agrees_with_a_map) {
  for (const unsigned sn_bits : {12U, 18U}) {
    const std::uint32_t begin = sn_bits == 12 ? 4000 : 0xFFFFFE00U;
    SentWindowHome w(sn_bits, begin);
    struct State {
      bool acked = false;
    };
    std::map<std::uint32_t, State> held;  // by distance from `begin`
    Random random(sn_bits);
    std::uint32_t base = begin;  // nothing before it is held
    for (int step = 0; step < 20000; ++step) {
      const std::uint32_t from = base + random() % (w.end - base + 1), to = from + random() % (w.end - from + 1);
      switch (random() % 4) {
        case 0:
          for (unsigned n = random() % 40; n != 0 && w.end - base < 2000; --n) {
            held[w.end - begin] = {};
            w.add();
          }
          break;
        case 1: {
          std::uint32_t expected = 0;
          for (std::uint32_t sn = from; sn != to; ++sn) {
            const auto it = held.find(sn - begin);
            if (it != held.end() && !std::exchange(it->second.acked, true)) ++expected;
          }
          ASSERT_EQ(w.acknowledge(from, to), expected);
          break;
        }
        case 2: {
          std::vector<std::uint32_t> expected;
          const std::size_t budget = random() % 50;
          for (std::uint32_t sn = from; sn != to && expected.size() < budget; ++sn) {
            const auto it = held.find(sn - begin);
            if (it == held.end() || !it->second.acked) continue;
            expected.push_back(sn);
            held.erase(it);
          }
          ASSERT_EQ(w.release(from, to, budget), expected);
          break;
        }
        default: {
          std::uint32_t first = to, last = to;
          for (std::uint32_t sn = from; sn != to; ++sn) {
            const auto it = held.find(sn - begin);
            if (it == held.end() || it->second.acked) continue;
            if (first == to) first = sn;
            last = sn;
          }
          ASSERT_EQ(w.window.first_open(from, to), first);
          ASSERT_EQ(w.window.last_open(from, to), last);
          break;
        }
      }
      while (base != w.end && !held.contains(base - begin)) ++base;
      ASSERT_EQ(w.pool.live(), held.size());
    }
  }
}

}  // namespace
}  // namespace splitplane::ran::rlc::test

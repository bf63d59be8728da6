#include "ran/pdcp/sent_pdus.h"

#include <set>

#include "ran/pdcp/test_entities.h"

namespace splitplane::ran::pdcp::test {
namespace {

struct Stored : Home {
  explicit Stored(unsigned sn_bits, const MemorySizes& sizes = kSmall) : Home(sizes), sent(sn_bits, memory) {}
  ~Stored() { sent.clear(); }
  bool add(std::uint32_t count) {
    if (!sent.add(count, kNever)) return false;
    sent.put(count, pool.make(Bytes{static_cast<std::uint8_t>(count)}), 0);
    return true;
  }
  std::vector<std::uint32_t> stored() const {
    std::vector<std::uint32_t> out;
    for (std::uint32_t count = sent.empty() ? sent.end() : sent.first(); count != sent.end();
         count = sent.next(count + 1)) {
      out.push_back(count);
    }
    return out;
  }
  SentPdus<Buffer> sent;
};

TEST(SentPdus, finds_each_pdu_and_the_lowest_one_at_any_count) {
  for (const std::uint32_t base : {0U, 4090U, 262'100U, 0xFFFFFE00U}) {
    Stored s(12);
    for (std::uint32_t i = 0; i < 300; ++i) ASSERT_TRUE(s.add(base + i));
    EXPECT_EQ(s.sent.size(), 300U);
    EXPECT_EQ(s.sent.first(), base);
    EXPECT_EQ(bytes_of(s.sent.pdu(base + 77)), Bytes{static_cast<std::uint8_t>(base + 77)});
    EXPECT_TRUE(s.sent.remove(base + 1));
    EXPECT_FALSE(s.sent.remove(base + 1));
    EXPECT_EQ(s.sent.first(), base);
    EXPECT_TRUE(s.sent.remove(base));
    EXPECT_EQ(s.sent.first(), base + 2);
    for (std::uint32_t i = 2; i < 299; ++i) EXPECT_TRUE(s.sent.remove(base + i));
    EXPECT_EQ(s.sent.first(), base + 299);
    EXPECT_TRUE(s.sent.remove(base + 299));
    EXPECT_TRUE(s.memory.unused());
  }
}

TEST(SentPdus, a_count_far_away_is_not_one_that_shares_its_place) {
  Stored s(12);
  ASSERT_TRUE(s.add(2));
  EXPECT_FALSE(s.sent.remove(4098));
  EXPECT_FALSE(s.sent.contains(4098));
  EXPECT_FALSE(s.sent.remove(0x80000002));
  EXPECT_TRUE(s.sent.contains(2));
}

TEST(SentPdus, a_pdu_comes_too_late_for_a_place_that_was_removed) {
  Stored s(12);
  for (const std::uint32_t count : {1U, 2U, 70U}) ASSERT_TRUE(s.sent.add(count, kNever));
  ASSERT_TRUE(s.sent.remove(1));
  ASSERT_TRUE(s.sent.remove(70));
  s.sent.put(1, s.pool.make(Bytes{1}), 0);
  s.sent.put(70, s.pool.make(Bytes{1}), 0);
  EXPECT_EQ(s.pool.live(), 0U);
  EXPECT_EQ(s.stored(), std::vector<std::uint32_t>{2});
}

TEST(SentPdus, one_bearer_gets_at_most_half_of_the_pages_that_are_left) {
  Stored s(18, {.directories = 8, .sent_pages = 8, .reorder_pages = 1, .waiting_pages = 1});
  std::uint32_t count = 0;
  while (s.add(count)) ++count;
  EXPECT_EQ(count, 4 * kPageSns);
  Stored other(18, {.directories = 1, .sent_pages = 8, .reorder_pages = 1, .waiting_pages = 1});
  EXPECT_FALSE(other.add(0)) << "there is no second directory";
}

TEST(SentPdus, gives_back_what_it_stores) {
  Stored s(18);
  for (const std::uint32_t count : {5U, 64U, 65U, 300U, 9000U}) ASSERT_TRUE(s.add(count));
  s.sent.clear();
  EXPECT_TRUE(s.sent.empty());
  EXPECT_TRUE(s.memory.unused());
  EXPECT_EQ(s.pool.live(), 0U);
}

TEST(SentPdus, what_a_report_confirms_is_what_each_of_its_bits_says) {
  Random random(1);
  for (int round = 0; round < 400; ++round) {
    const std::uint32_t base = std::vector<std::uint32_t>{0, 4000, 0xFFFFFC00}[random() % 3];
    Stored s(12);
    for (std::uint32_t i = 0; i < 400; ++i) {
      if (random() % 4 != 0) {
        ASSERT_TRUE(s.add(base + i));
      }
    }
    Bytes bitmap(random() % 60);
    for (auto& octet : bitmap) octet = static_cast<std::uint8_t>(random());
    const std::uint32_t fmc = base + random() % 500 - (base == 0 ? 0 : 50);
    const wire::pdcp::StatusReport report{Count{fmc}, bitmap};
    std::vector<std::uint32_t> left, gone, removed;
    for (const std::uint32_t count : s.stored()) (report.confirms(Count{count}) ? gone : left).push_back(count);
    s.sent.remove_confirmed(report, [&](std::uint32_t count) { removed.push_back(count); });
    ASSERT_EQ(removed, gone);
    ASSERT_EQ(s.stored(), left);
  }
}

TEST(SentPdus, a_short_report_leaves_what_lies_beyond_it) {
  Stored s(12);
  for (std::uint32_t i = 100; i < 1000; ++i) ASSERT_TRUE(s.add(i));
  const auto removed_by = [&](std::uint32_t fmc, const Bytes& bitmap) {
    std::vector<std::uint32_t> removed;
    s.sent.remove_confirmed({Count{fmc}, bitmap}, [&](std::uint32_t count) { removed.push_back(count); });
    return removed;
  };
  EXPECT_TRUE(removed_by(100, {}).empty());
  EXPECT_TRUE(removed_by(91, {0xFF}).empty()) << "its last bit is 99";
  EXPECT_EQ(removed_by(92, {0xFF}), std::vector<std::uint32_t>{100});
  EXPECT_EQ(removed_by(102, {0x01}), (std::vector<std::uint32_t>{101, 110}));
  EXPECT_EQ(removed_by(999, {0xFF}).size(), 896U);
  EXPECT_EQ(s.stored(), std::vector<std::uint32_t>{999});
}

TEST(SentPdus, a_report_from_more_than_half_of_all_counts_below_confirms_nothing) {
  for (const std::uint32_t base : {0xFFFFFFF0U, 0x90000000U}) {
    Stored s(12);
    for (std::uint32_t i = 0; i < 14; ++i) ASSERT_TRUE(s.add(base + i));
    for (const std::uint32_t fmc : {0U, 5U, 0x0556C1D6U, base - 0x80000001U}) {
      s.sent.remove_confirmed({Count{fmc}, Bytes(20, 0xFF)}, [](std::uint32_t count) { ADD_FAILURE() << count; });
    }
    EXPECT_EQ(s.sent.size(), 14U);
  }
}

TEST(BitmapWord, has_the_bits_of_the_bitmap_wherever_it_begins) {
  Random random(2);
  for (int round = 0; round < 2000; ++round) {
    Bytes bitmap(random() % 20);
    for (auto& octet : bitmap) octet = static_cast<std::uint8_t>(random());
    const auto from = static_cast<std::int64_t>(random() % 300) - 100;
    const std::uint64_t word = bitmap_word(bitmap, from);
    for (int i = 0; i < 64; ++i) {
      const std::int64_t bit = from + i;
      const bool inside = 0 <= bit && bit < static_cast<std::int64_t>(8 * bitmap.size());
      const bool set = inside && (bitmap[static_cast<std::size_t>(bit) / 8] & 0x80 >> bit % 8) != 0;
      ASSERT_EQ((word >> i & 1) != 0, set) << "bit " << bit;
    }
  }
}

}  // namespace
}  // namespace splitplane::ran::pdcp::test

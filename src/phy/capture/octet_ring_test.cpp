#include "phy/capture/octet_ring.h"

#include <gtest/gtest.h>

#include <numeric>
#include <thread>

namespace splitplane::phy {
namespace {

using Record = std::vector<std::uint8_t>;

Record record_of(std::size_t bytes, std::uint8_t first) {
  Record record(bytes);
  std::iota(record.begin(), record.end(), first);
  return record;
}

TEST(OctetRing, records_come_out_as_they_went_in_also_across_its_end) {
  OctetRing ring(256);
  Record out;
  for (unsigned i = 0; i < 1000; ++i) {
    const Record a = record_of(i % 97, static_cast<std::uint8_t>(i)), b = record_of(i % 29, 7);
    ASSERT_TRUE(ring.push({a, b}));
    ASSERT_TRUE(ring.pop(out));
    Record both = a;
    both.insert(both.end(), b.begin(), b.end());
    ASSERT_EQ(out, both);
  }
  EXPECT_FALSE(ring.pop(out));
}

TEST(OctetRing, a_record_without_room_is_refused_and_changes_nothing) {
  OctetRing ring(64);
  const Record a = record_of(40, 0), b = record_of(21, 0), c = record_of(16, 9);
  Record out;
  EXPECT_FALSE(ring.push({record_of(61, 0)}));
  EXPECT_TRUE(ring.push({a}));
  EXPECT_FALSE(ring.push({b}));
  EXPECT_TRUE(ring.push({c}));
  EXPECT_FALSE(ring.push({Record{}}));
  ASSERT_TRUE(ring.pop(out));
  EXPECT_EQ(out, a);
  ASSERT_TRUE(ring.pop(out));
  EXPECT_EQ(out, c);
}

TEST(OctetRing, two_threads_pass_records_in_order) {
  OctetRing ring(1024);
  constexpr unsigned kRecords = 20'000;
  std::thread producer([&] {
    for (unsigned i = 0; i < kRecords;) {
      if (ring.push({record_of(i % 200, static_cast<std::uint8_t>(i))})) {
        ++i;
      } else {
        std::this_thread::yield();
      }
    }
  });
  Record out;
  unsigned wrong = 0;
  for (unsigned i = 0; i < kRecords;) {
    if (!ring.pop(out)) {
      std::this_thread::yield();
      continue;
    }
    wrong += out == record_of(i % 200, static_cast<std::uint8_t>(i)) ? 0 : 1;
    ++i;
  }
  producer.join();
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace splitplane::phy

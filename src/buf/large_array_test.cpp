#include "buf/large_array.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace splitplane::buf {
namespace {

struct alignas(64) Line {
  std::uint64_t value = 7;
};

TEST(LargeArray, begins_on_a_huge_page_if_it_has_one) {
  const LargeArray<Line> small(10), large((std::size_t{3} << 20) / sizeof(Line));
  EXPECT_EQ(small.size(), 10U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&small[0]) % alignof(Line), 0U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&large[0]) % LargeMemory<Line>::kHugePage, 0U);
  for (std::size_t i = 0; i < large.size(); ++i) ASSERT_EQ(large[i].value, 7U);
}

TEST(LargeArray, of_nothing_is_empty) {
  const LargeArray<Line> none(0);
  EXPECT_EQ(none.size(), 0U);
}

TEST(LargeArray, ends_each_object_that_it_began) {
  static int alive = 0;
  struct Counted {
    Counted() { ++alive; }
    ~Counted() { --alive; }
    std::uint8_t octet = 0;
  };
  {
    const LargeArray<Counted> all(5000);
    EXPECT_EQ(alive, 5000);
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace splitplane::buf

#include "phy/mapping/rnti_index.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace splitplane::phy {
namespace {

TEST(RntiIndex, it_finds_what_a_map_finds) {
  RntiIndex index;
  std::map<Rnti, std::uint8_t> model;
  Random random(1);
  for (unsigned i = 0; i < 200'000; ++i) {
    if (random.below(400) == 0) {
      index.clear();
      model.clear();
    }
    const auto rnti = static_cast<Rnti>(random.below(1000) * 64);
    if (random.below(2) == 0) {
      const auto entry = static_cast<std::uint8_t>(random.below(255));
      ASSERT_EQ(index.add(rnti, entry), model.size() < RntiIndex::kMost && model.emplace(rnti, entry).second);
    }
    const auto found = model.find(rnti);
    ASSERT_EQ(index.entry(rnti), found == model.end() ? RntiIndex::kNone : found->second);
    ASSERT_EQ(index.has(rnti), found != model.end());
    ASSERT_EQ(index.size(), model.size());
  }
}

TEST(RntiIndex, it_is_full_with_255_ues) {
  RntiIndex index;
  for (unsigned i = 0; i < RntiIndex::kMost; ++i) ASSERT_TRUE(index.add(static_cast<Rnti>(1 + i), 7));
  EXPECT_FALSE(index.add(1000, 7));
  EXPECT_FALSE(index.has(1000));
  index.clear();
  EXPECT_TRUE(index.add(1000, 7));
  EXPECT_FALSE(index.has(1));
}

TEST(RntiIndex, c_rntis_are_those_of_ts_38_321) {
  EXPECT_FALSE(is_c_rnti(0));
  EXPECT_TRUE(is_c_rnti(1));
  EXPECT_TRUE(is_c_rnti(0xFFEF));
  EXPECT_FALSE(is_c_rnti(0xFFF0));
}

}  // namespace
}  // namespace splitplane::phy

#include "placement/decision/settings.h"

#include <gtest/gtest.h>

namespace splitplane::placement {
namespace {

TEST(Settings, a_core_may_not_be_filled_beyond_where_it_needs_help) {
  ConsolidationSettings settings;
  EXPECT_EQ(refuse(settings), std::nullopt);
  settings.fill_percent = 85;
  EXPECT_EQ(refuse(settings),
            "fill_percent 85 is not below busy_percent 85, so shards would go to and fro; allowed: a "
            "smaller fill_percent");
}

}  // namespace
}  // namespace splitplane::placement

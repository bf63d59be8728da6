#include "base/table.h"

#include <gtest/gtest.h>

namespace splitplane::app {
namespace {

TEST(TextTable, numbers_stand_right_and_text_left) {
  Table table({"name", "packets"});
  table.add({"rx", "1,000"});
  table.add({"gtpu", "3"});
  EXPECT_EQ(table.to_string(), "name  packets\nrx      1,000\ngtpu        3\n");
}

TEST(TextTable, a_column_of_dashes_goes) {
  Table table({"name", "card", "packets"});
  table.add({"a", "-", "1"});
  table.add({"b", "-", "-"});
  EXPECT_EQ(table.without_empty_columns().to_string(), "name  packets\na           1\nb           -\n");
}

}  // namespace
}  // namespace splitplane::app

#include "ran/pdcp/types.h"

#include <gtest/gtest.h>

namespace splitplane::ran::pdcp {
namespace {

TEST(PdcpConfig, names_what_no_entity_can_have) {
  EXPECT_EQ(Config{}.refuse(), "");
  EXPECT_EQ((Config{.drb = 32, .tx_sn_bits = 12, .rx_sn_bits = 18}.refuse()), "");
  for (const std::uint8_t bits : std::initializer_list<std::uint8_t>{0, 11, 13, 17, 19}) {
    EXPECT_NE(Config{.tx_sn_bits = bits}.refuse(), "");
    EXPECT_NE(Config{.rx_sn_bits = bits}.refuse(), "");
  }
  EXPECT_NE(Config{.drb = 0}.refuse(), "");
  EXPECT_NE(Config{.drb = 33}.refuse(), "");
  EXPECT_NE(Config{.max_waiting = 0}.refuse(), "");
  EXPECT_NE(Config{.max_held = 0}.refuse(), "");
}

TEST(PdcpTime, does_not_wrap) {
  EXPECT_EQ(later(5, 7), 12U);
  EXPECT_EQ(later(5, kNever), kNever);
  EXPECT_EQ(later(10, kNever - 5), kNever);
  EXPECT_EQ(later(0, 0), 0U);
}

}  // namespace
}  // namespace splitplane::ran::pdcp

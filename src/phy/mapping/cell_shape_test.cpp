#include "phy/mapping/cell_shape.h"

#include <gtest/gtest.h>

namespace splitplane::phy {
namespace {

TEST(CellShape, the_default_is_a_cell_of_100_mhz) {
  constexpr CellShape kCell;
  EXPECT_EQ(kCell.wrong(), "");
  EXPECT_EQ(kCell.most_dcis(), 45U);  // 273 / 6 RB groups, one symbol
  EXPECT_EQ(CellShape{.shape = {.symbols = 12}}.most_dcis(), 90U);
  // A slot of one UE at the highest MCS fits into TX_DATA.request six times.
  EXPECT_GT(kCell.most_tx_data_bytes, 6 * tb_bytes(kCell.shape, 28, kCell.prbs));
}

TEST(CellShape, what_dci_1_0_cannot_say_is_refused_in_a_sentence) {
  for (const CellShape& cell :
       {CellShape{.numerology = {4}}, CellShape{.prbs = 5}, CellShape{.prbs = 276}, CellShape{.k = 0},
        CellShape{.k = 9}, CellShape{.shape = {.layers = 2}}, CellShape{.shape = {.table = McsTable::k256Qam}},
        CellShape{.shape = {.symbols = 14}}, CellShape{.shape = {.symbols = 11}}, CellShape{.shape = {.dmrs_res = 6}},
        CellShape{.shape = {.dmrs_res = 60}}, CellShape{.shape = {.overhead = 5}}}) {
    EXPECT_NE(cell.wrong(), "");
  }
  EXPECT_EQ((CellShape{.numerology = {3},
                       .prbs = 6,
                       .shape = {.table = McsTable::k64QamLowSe, .symbols = 12, .dmrs_res = 48, .overhead = 18},
                       .k = 8})
                .wrong(),
            "");
}

// TS 38.211 table 7.4.1.1.2-3, PDSCH mapping type A, l_0 = 2.
TEST(CellShape, dmrs_is_in_the_symbols_of_the_table) {
  const auto symbols = [](std::uint8_t dmrs_res, unsigned end) {
    return CellShape{.shape = {.dmrs_res = dmrs_res}}.dmrs_symbols(end);
  };
  EXPECT_EQ(symbols(12, 14), 1U << 2);
  EXPECT_EQ(symbols(24, 14), 1U << 2 | 1U << 11);
  EXPECT_EQ(symbols(24, 12), 1U << 2 | 1U << 9);
  EXPECT_EQ(symbols(36, 13), 1U << 2 | 1U << 7 | 1U << 11);
  EXPECT_EQ(symbols(36, 12), 1U << 2 | 1U << 6 | 1U << 9);
  EXPECT_EQ(symbols(48, 12), 1U << 2 | 1U << 5 | 1U << 8 | 1U << 11);
  EXPECT_EQ(symbols(30, 14), 0U);
}

}  // namespace
}  // namespace splitplane::phy

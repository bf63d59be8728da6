#include "phy/slots/tb_size.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace splitplane::phy {
namespace {

constexpr std::array<McsTable, 3> kTables{McsTable::k64Qam, McsTable::k256Qam, McsTable::k64QamLowSe};

// The clause with floating point and std::log2, step by step: another way to the same size than integers.
std::uint32_t as_written(const TbShape& s, double rate, double qm, double prbs) {
  const double res = std::min(156.0, 12.0 * s.symbols - s.dmrs_res - s.overhead) * prbs;
  const double info = res * rate * qm * s.layers;
  if (info <= 3824) {
    const double step = std::pow(2, std::max(3.0, std::floor(std::log2(info)) - 6));
    const double quantised = std::max(24.0, step * std::floor(info / step));
    for (const std::uint16_t size : detail::kSmallBlocks)
      if (size >= quantised) return size;
    return 0;
  }
  const double step = std::pow(2, std::floor(std::log2(info - 24)) - 5);
  const double quantised = std::max(3840.0, step * std::round((info - 24) / step));  // std::round: ties upwards
  double c = 1;
  if (rate <= 0.25) {
    c = std::ceil((quantised + 24) / 3816);
  } else if (quantised > 8424) {
    c = std::ceil((quantised + 24) / 8424);
  }
  return static_cast<std::uint32_t>(8 * c * std::ceil((quantised + 24) / (8 * c)) - 24);
}

template <class Each>
void for_all_shapes(Each&& each) {
  for (const McsTable table : kTables)
    for (std::uint8_t layers = 1; layers <= 4; ++layers)
      for (const std::uint8_t symbols : std::initializer_list<std::uint8_t>{1, 2, 4, 7, 12, 13, 14})
        for (const std::uint8_t dmrs : std::initializer_list<std::uint8_t>{0, 6, 12, 18, 24, 36})
          for (const std::uint8_t overhead : std::initializer_list<std::uint8_t>{0, 6, 12, 18}) {
            const TbShape shape{table, symbols, dmrs, overhead, layers};
            if (shape.valid()) each(shape);
          }
}

TEST(TbSize, all_combinations_are_as_the_clause_says) {
  std::uint64_t compared = 0;
  for_all_shapes([&](const TbShape& shape) {
    for (std::uint8_t index = 0; index < mcs_count(shape.table); ++index) {
      const Mcs mcs = mcs_at(shape.table, index);
      for (std::uint32_t prbs = 1; prbs <= kMaxPrbs; prbs += prbs < 30 ? 1 : 7) {
        ++compared;
        ASSERT_EQ(tb_bits(shape, index, prbs), as_written(shape, mcs.rate_2048 / 2048.0, mcs.bits, prbs))
            << "table " << int(shape.table) << " MCS " << int(index) << " PRBs " << prbs << " layers "
            << int(shape.layers) << " symbols " << int(shape.symbols) << " DMRS " << int(shape.dmrs_res) << " overhead "
            << int(shape.overhead);
      }
    }
  });
  EXPECT_GT(compared, 2'000'000U);
}

TEST(TbSize, sizes_are_whole_octets_and_never_fall_as_prbs_grow) {
  for_all_shapes([](const TbShape& shape) {
    for (std::uint8_t index = 0; index < mcs_count(shape.table); ++index) {
      std::uint32_t before = 24;
      for (std::uint32_t prbs = 1; prbs <= kMaxPrbs; ++prbs) {
        const std::uint32_t bits = tb_bits(shape, index, prbs);
        ASSERT_EQ(bits % 8, 0U);
        ASSERT_GE(bits, before);
        before = bits;
      }
    }
  });
}

// Sizes that others publish: the maximum of NR, the smallest, one on each side of the border between both branches.
TEST(TbSize, known_sizes) {
  EXPECT_EQ(tb_bits({.symbols = 14, .dmrs_res = 12}, 0, 1), 32U);
  const TbShape widest{.table = McsTable::k256Qam, .symbols = 14, .dmrs_res = 12, .layers = 4};
  EXPECT_EQ(tb_bits(widest, 27, 273), 1277992U);  // 100 MHz, 30 kHz, 4 layers
  EXPECT_LE(kMaxTbBytes, 160U * 1024);
  EXPECT_GT(kMaxTbBytes, 155U * 1024);
}

TEST(TbSize, quantisation_changes_its_branch_at_3824_bits) {
  EXPECT_EQ(detail::small_block(std::uint64_t{3824} << 11), 3824U);
  EXPECT_EQ(detail::small_block(1), 24U);
  EXPECT_EQ(detail::large_block((std::uint64_t{3824} << 11) + 1, 1024), 3840U);
  EXPECT_EQ(detail::large_block((std::uint64_t{3824} << 11) + 1, 512), 3848U);  // two code blocks at R = 1/4
}

// (N_info - 24) / 2^n = 60.5 at n = 6: a tie goes upwards, one 1/2048 bit less goes down.
TEST(TbSize, a_tie_is_rounded_upwards) {
  const std::uint64_t tie = (std::uint64_t{24} << 11) + 60 * 131072 + 65536;
  EXPECT_EQ(detail::large_block(tie, 1024), 61U * 64);
  EXPECT_EQ(detail::large_block(tie - 1, 1024), 60U * 64);
}

TEST(TbSize, a_block_of_more_than_8424_bits_has_equal_code_blocks) {
  for (std::uint64_t bits = 8400; bits < 1'300'000; bits += 97) {
    const std::uint32_t size = detail::large_block(bits << 11, 1024);
    const std::uint32_t blocks = size > 8424 ? (size + 24 + 8423) / 8424 : 1;
    EXPECT_EQ((size + 24) % (8 * blocks), 0U) << bits;
  }
}

TEST(TbSize, what_is_not_possible_has_no_size) {
  EXPECT_EQ(tb_bits({}, 29, 10), 0U);  // reserved
  EXPECT_EQ(tb_bits({.table = McsTable::k256Qam}, 28, 10), 0U);
  EXPECT_EQ(tb_bits({}, 5, 0), 0U);
  EXPECT_EQ(tb_bits({.symbols = 1, .dmrs_res = 12}, 5, 10), 0U);
  EXPECT_EQ(tb_bits({.symbols = 15}, 5, 10), 0U);
  EXPECT_EQ(tb_bits({.overhead = 5}, 5, 10), 0U);
  EXPECT_EQ(tb_bits({.layers = 5}, 5, 10), 0U);
  EXPECT_EQ(tb_bits({.table = static_cast<McsTable>(4)}, 5, 10), 0U);
}

TEST(TbSize, prbs_for_is_the_smallest_that_fits) {
  for (const McsTable table : kTables) {
    const TbShape shape{.table = table, .layers = 2};
    for (std::uint8_t index = 0; index < mcs_count(table); index = static_cast<std::uint8_t>(index + 3)) {
      for (std::uint32_t bytes = 1; bytes < 90'000; bytes += 1 + bytes / 40) {
        const std::uint32_t prbs = prbs_for(shape, index, bytes, kMaxPrbs);
        if (prbs <= kMaxPrbs) {
          ASSERT_GE(tb_bytes(shape, index, prbs), bytes);
        }
        if (prbs > 1) {
          ASSERT_LT(tb_bytes(shape, index, prbs - 1), bytes);
        }
      }
    }
  }
  EXPECT_EQ(prbs_for({}, 0, 1, kMaxPrbs), 1U);
  EXPECT_EQ(prbs_for({}, 0, kMaxTbBytes, kMaxPrbs), kMaxPrbs + 1U);
  EXPECT_EQ(prbs_for({}, 31, 1, kMaxPrbs), kMaxPrbs + 1U);  // reserved: none is large enough
  EXPECT_EQ(prbs_for({}, 0, 1, 0), 1U);
}

TEST(TbSize, mcs_for_is_the_lowest_that_fits) {
  for (const McsTable table : kTables) {
    const TbShape shape{.table = table};
    for (std::uint32_t bytes = 1; bytes < 12'000; bytes += 1 + bytes / 20) {
      const std::uint8_t index = mcs_for(shape, 100, bytes);
      for (std::uint8_t lower = 0; lower < index; ++lower) ASSERT_LT(tb_bytes(shape, lower, 100), bytes);
      if (index < mcs_count(table)) {
        ASSERT_GE(tb_bytes(shape, index, 100), bytes);
      }
    }
  }
  EXPECT_EQ(mcs_for({}, 1, 10'000), 29);
}

// What a table promises: 16QAM begins with about the efficiency at which QPSK ends, and so on.
TEST(Mcs, efficiency_grows_but_where_the_modulation_changes) {
  for (const McsTable table : kTables) {
    for (std::uint8_t index = 1; index < mcs_count(table); ++index) {
      const Mcs lower = mcs_at(table, static_cast<std::uint8_t>(index - 1)), mcs = mcs_at(table, index);
      EXPECT_LT(mcs.rate_2048, 2048);
      EXPECT_GE(mcs.bits, lower.bits);
      if (mcs.bits == lower.bits) {
        EXPECT_GT(mcs.efficiency(), lower.efficiency());
      } else {
        EXPECT_NEAR(mcs.efficiency(), lower.efficiency(), 0.26 * lower.efficiency());
      }
    }
  }
}

static_assert(tb_bits({}, 10, 50) != 0, "sizes are constant expressions");
static_assert(prbs_for({}, 10, 1000, kMaxPrbs) > 1);

}  // namespace
}  // namespace splitplane::phy

// Legal sizes of transport blocks (TS 38.214 5.1.3.2; 6.1.4.2 is the same for PUSCH), exact in integers, and the
// inverse: how many PRBs, or which MCS, hold a number of octets.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "phy/slots/mcs.h"

namespace splitplane::phy {

inline constexpr std::uint16_t kMaxPrbs = 275;  // of a carrier (TS 38.211 4.4.2)

// What a TB's size depends on besides MCS and PRBs. The default is a slot with one DMRS symbol on all its REs, as in
// 13 data symbols behind one of control and DMRS.
struct TbShape {
  McsTable table = McsTable::k64Qam;
  std::uint8_t symbols = 13;   // N_symb: OFDM symbols of the allocation, 1..14
  std::uint8_t dmrs_res = 12;  // N_DMRS: REs a PRB for DMRS, with those of CDM groups without data
  std::uint8_t overhead = 0;   // N_oh, xOverhead: 0, 6, 12 or 18 REs a PRB
  std::uint8_t layers = 1;     // 1..4

  // True if at least one RE a PRB is left for data, and each value is in its range.
  [[nodiscard]] constexpr bool valid() const {
    return symbols >= 1 && symbols <= 14 && (overhead == 0 || overhead == 6 || overhead == 12 || overhead == 18) &&
           layers >= 1 && layers <= 4 && mcs_count(table) != 0 && res_per_prb() > 0;
  }
  // min(156, N'_RE): REs a PRB that count for the size.
  [[nodiscard]] constexpr std::uint32_t res_per_prb() const {
    const int res = 12 * symbols - dmrs_res - overhead;
    return res <= 0 ? 0 : static_cast<std::uint32_t>(std::min(156, res));
  }
};

namespace detail {

// Table 5.1.3.2-1, bits.
// clang-format off
inline constexpr std::array<std::uint16_t, 93> kSmallBlocks{
    24,   32,   40,   48,   56,   64,   72,   80,   88,   96,   104,  112,  120,  128,  136,  144,  152,  160,  168,
    176,  184,  192,  208,  224,  240,  256,  272,  288,  304,  320,  336,  352,  368,  384,  408,  432,  456,  480,
    504,  528,  552,  576,  608,  640,  672,  704,  736,  768,  808,  848,  888,  928,  984,  1032, 1064, 1128, 1160,
    1192, 1224, 1256, 1288, 1320, 1352, 1416, 1480, 1544, 1608, 1672, 1736, 1800, 1864, 1928, 2024, 2088, 2152, 2216,
    2280, 2408, 2472, 2536, 2600, 2664, 2728, 2792, 2856, 2976, 3104, 3240, 3368, 3496, 3624, 3752, 3824};
// clang-format on

[[nodiscard]] constexpr std::uint32_t log2_floor(std::uint32_t v) {
  return static_cast<std::uint32_t>(std::bit_width(v)) - 1;
}
[[nodiscard]] constexpr std::uint32_t divided_up(std::uint32_t a, std::uint32_t b) {
  return (a + b - 1) / b;
}

// N_info <= 3824: quantised downwards, then the next size of the table. `info` is in 1/2048 bit.
[[nodiscard]] constexpr std::uint32_t small_block(std::uint64_t info) {
  const auto whole = static_cast<std::uint32_t>(info >> 11);
  const std::uint32_t n = whole < 512 ? 3 : log2_floor(whole) - 6;  // max(3, floor(log2(N_info)) - 6)
  const std::uint32_t quantised = std::max(24U, whole >> n << n);
  return *std::lower_bound(kSmallBlocks.begin(), kSmallBlocks.end(), quantised);
}

// N_info > 3824: quantised to the nearest, ties upwards, then made of `blocks` code blocks of whole octets.
[[nodiscard]] constexpr std::uint32_t large_block(std::uint64_t info, std::uint16_t rate_2048) {
  const std::uint64_t above = info - (std::uint64_t{24} << 11);
  const std::uint32_t n = log2_floor(static_cast<std::uint32_t>(above >> 11)) - 5;
  const std::uint64_t half = std::uint64_t{1} << (n + 10);
  const auto rounded = static_cast<std::uint32_t>((above + half) >> (n + 11) << n);
  const std::uint32_t with_crc = std::max(3840U, rounded) + 24;
  std::uint32_t blocks = 1;
  if (rate_2048 <= 512) {  // R <= 1/4: LDPC base graph 2
    blocks = divided_up(with_crc, 3816);
  } else if (with_crc - 24 > 8424) {
    blocks = divided_up(with_crc, 8424);
  }
  return 8 * blocks * divided_up(with_crc, 8 * blocks) - 24;
}

}  // namespace detail

// Bits of the transport block; 0 for a shape that is not valid, a reserved MCS, or no PRB.
[[nodiscard]] constexpr std::uint32_t tb_bits(const TbShape& shape, std::uint8_t mcs_index, std::uint32_t prbs) {
  const Mcs mcs = mcs_at(shape.table, mcs_index);
  if (mcs.bits == 0 || prbs == 0 || !shape.valid()) return 0;
  const std::uint64_t info = std::uint64_t{shape.res_per_prb()} * prbs * mcs.efficiency() * shape.layers;
  return info <= std::uint64_t{3824} << 11 ? detail::small_block(info) : detail::large_block(info, mcs.rate_2048);
}

// The same in octets: every size is a whole number of them.
[[nodiscard]] constexpr std::uint32_t tb_bytes(const TbShape& shape, std::uint8_t mcs_index, std::uint32_t prbs) {
  return tb_bits(shape, mcs_index, prbs) / 8;
}

// The largest TB of a cell: 275 PRBs, 256QAM, four layers.
inline constexpr std::uint32_t kMaxTbBytes =
    tb_bytes({.table = McsTable::k256Qam, .symbols = 14, .dmrs_res = 0, .layers = 4}, 27, kMaxPrbs);

// The fewest PRBs whose TB has at least `bytes` octets; `most` + 1 if even `most` PRBs have fewer. Sizes do not fall as
// PRBs grow, so a binary search finds it.
[[nodiscard]] constexpr std::uint32_t prbs_for(const TbShape& shape, std::uint8_t mcs_index, std::uint32_t bytes,
                                               std::uint32_t most) {
  std::uint32_t low = 1, high = most + 1;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (tb_bytes(shape, mcs_index, middle) >= bytes) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// The lowest MCS index whose TB of `prbs` PRBs has at least `bytes` octets; mcs_count() if none has. A higher index may
// have a smaller TB where the modulation changes, so each is looked at.
[[nodiscard]] constexpr std::uint8_t mcs_for(const TbShape& shape, std::uint32_t prbs, std::uint32_t bytes) {
  std::uint8_t index = 0;
  while (index < mcs_count(shape.table) && tb_bytes(shape, index, prbs) < bytes) ++index;
  return index;
}

}  // namespace splitplane::phy

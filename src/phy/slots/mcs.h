// Modulation and coding schemes (TS 38.214 tables 5.1.3.1-1 to -3): PDSCH, and PUSCH without transform precoding.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace splitplane::phy {

// The number of the table in TS 38.214 5.1.3.1.
enum class McsTable : std::uint8_t { k64Qam = 1, k256Qam = 2, k64QamLowSe = 3 };

struct Mcs {
  std::uint8_t bits = 0;        // Qm: bits of a symbol
  std::uint16_t rate_2048 = 0;  // target code rate R in 1/2048, since some rates x 1024 end in .5
  // Qm x R, in bits / 2048.
  [[nodiscard]] constexpr std::uint32_t efficiency() const { return std::uint32_t{bits} * rate_2048; }
};

namespace detail {

// Rows as printed: Qm, R x 1024.
struct PrintedMcs {
  std::uint8_t bits;
  double rate_1024;
};
template <std::size_t kRows>
constexpr std::array<Mcs, kRows> from_print(const PrintedMcs (&rows)[kRows]) {
  std::array<Mcs, kRows> out{};
  for (std::size_t i = 0; i < kRows; ++i) out[i] = {rows[i].bits, static_cast<std::uint16_t>(2 * rows[i].rate_1024)};
  return out;
}
// clang-format off
inline constexpr auto k64Qam = from_print({
    {2, 120}, {2, 157}, {2, 193}, {2, 251}, {2, 308}, {2, 379}, {2, 449}, {2, 526}, {2, 602}, {2, 679},
    {4, 340}, {4, 378}, {4, 434}, {4, 490}, {4, 553}, {4, 616}, {4, 658},
    {6, 438}, {6, 466}, {6, 517}, {6, 567}, {6, 616}, {6, 666}, {6, 719}, {6, 772}, {6, 822}, {6, 873}, {6, 910}, {6, 948}});
inline constexpr auto k256Qam = from_print({
    {2, 120}, {2, 193}, {2, 308}, {2, 449}, {2, 602},
    {4, 378}, {4, 434}, {4, 490}, {4, 553}, {4, 616}, {4, 658},
    {6, 466}, {6, 517}, {6, 567}, {6, 616}, {6, 666}, {6, 719}, {6, 772}, {6, 822}, {6, 873},
    {8, 682.5}, {8, 711}, {8, 754}, {8, 797}, {8, 841}, {8, 885}, {8, 916.5}, {8, 948}});
inline constexpr auto k64QamLowSe = from_print({
    {2, 30}, {2, 40}, {2, 50}, {2, 64}, {2, 78}, {2, 99}, {2, 120}, {2, 157}, {2, 193}, {2, 251}, {2, 308}, {2, 379},
    {2, 449}, {2, 526}, {2, 602},
    {4, 340}, {4, 378}, {4, 434}, {4, 490}, {4, 553}, {4, 616},
    {6, 438}, {6, 466}, {6, 517}, {6, 567}, {6, 616}, {6, 666}, {6, 719}, {6, 772}});
// clang-format on

}  // namespace detail

// How many indices of a table have a code rate. Those from here to 31 are reserved: they only name the modulation of a
// retransmission.
[[nodiscard]] constexpr std::uint8_t mcs_count(McsTable table) {
  switch (table) {
    case McsTable::k64Qam:
      return detail::k64Qam.size();
    case McsTable::k256Qam:
      return detail::k256Qam.size();
    case McsTable::k64QamLowSe:
      return detail::k64QamLowSe.size();
  }
  return 0;
}

// The row of a table; a row of zeros for a reserved index.
[[nodiscard]] constexpr Mcs mcs_at(McsTable table, std::uint8_t index) {
  if (index >= mcs_count(table)) return {};
  switch (table) {
    case McsTable::k64Qam:
      return detail::k64Qam[index];
    case McsTable::k256Qam:
      return detail::k256Qam[index];
    case McsTable::k64QamLowSe:
      return detail::k64QamLowSe[index];
  }
  return {};
}

}  // namespace splitplane::phy

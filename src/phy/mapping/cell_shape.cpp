#include "phy/mapping/cell_shape.h"

namespace splitplane::phy {

std::string_view CellShape::wrong() const {
  if (!numerology.valid()) return "the numerology is above 3";
  if (prbs < 6 || prbs > kMaxPrbs) return "a cell has 6 to 275 PRBs: its CORESET takes 6 of them at least";
  if (k < 1 || k > kMaxK) return "HARQ-ACK and PUSCH come 1 to 8 slots after their DCI";
  if (shape.layers != 1) return "DCI 1_0 and 0_0 grant one layer";
  if (shape.table == McsTable::k256Qam) return "DCI 1_0 and 0_0 do not use the MCS table for 256QAM";
  if (!shape.valid()) return "the shape of transport blocks is not one of TS 38.214 5.1.3.2";
  if (shape.symbols < 12 || shape.symbols > 13) return "a PDSCH has 12 or 13 symbols: 1 or 2 are for the PDCCH";
  if (dmrs_symbols(shape.symbols) == 0) return "DMRS takes 12 REs a PRB in each of 1 to 4 symbols";
  return {};
}

// Tables 7.4.1.1.2-3 and 6.4.1.1.3-3 of TS 38.211: mapping type A, single-symbol DMRS, the first one in symbol 2.
std::uint16_t CellShape::dmrs_symbols(unsigned end) const {
  const auto mask = [](auto... symbols) { return static_cast<std::uint16_t>((0U | ... | (1U << symbols))); };
  const bool long_one = end >= 13;
  switch (shape.dmrs_res) {
    case 12:
      return mask(2);
    case 24:
      return long_one ? mask(2, 11) : mask(2, 9);
    case 36:
      return long_one ? mask(2, 7, 11) : mask(2, 6, 9);
    case 48:
      return mask(2, 5, 8, 11);
    default:
      return 0;
  }
}

}  // namespace splitplane::phy

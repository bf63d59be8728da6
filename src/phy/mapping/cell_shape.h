// What L2 and PHY of a cell agree on besides its messages: how many PRBs there are, how slots are cut, and how long
// after a DCI things happen. DCI 1_0 and 0_0 leave no choice in the rest: one layer, no 256QAM table (TS 38.214
// 5.1.3.1), DMRS with two CDM groups (5.1.6.2).
//
//   downlink  | PDCCH: 14 - N_symb symbols | PDSCH: N_symb symbols |
//   uplink    | PUSCH: N_symb symbols      | PUCCH format 0: one symbol, behind the PUSCH |
#pragma once

#include <string_view>

#include "phy/slots/grant.h"
#include "phy/slots/tb_size.h"

namespace splitplane::phy {

struct CellShape {
  static constexpr std::uint8_t kMaxK = 8;  // PDSCH-to-HARQ_feedback timing of DCI 1_0 has three bits

  Numerology numerology{1};
  std::uint16_t prbs = 273;  // of a slot, both directions
  TbShape shape;             // 12 or 13 symbols, 12 REs for each DMRS symbol, one layer
  std::uint8_t k = 4;        // slots from a DCI to its PUSCH, and from a PDSCH to its HARQ-ACK: 1..8
  std::uint16_t cell_id = 0;
  // The longest TX_DATA.request that P7 cuts into 128 datagrams of 1472 octets.
  std::size_t most_tx_data_bytes = std::size_t{128} * (1472 - 18);

  // What is wrong with it, in one sentence; empty if nothing is.
  [[nodiscard]] std::string_view wrong() const;
  // Bit s: symbol s of the slot has DMRS, for a PDSCH or PUSCH that begins before symbol 3 and ends before symbol
  // `end`, 12..14. 0 if `shape` has another number of REs for DMRS.
  [[nodiscard]] std::uint16_t dmrs_symbols(unsigned end) const;
  // How many DCIs a slot has room for, of both directions together: the CCEs of its CORESET, one a DCI.
  [[nodiscard]] constexpr unsigned most_dcis() const { return prbs / 6U * (14U - shape.symbols); }
};

// mcsTable of FAPI: 0 64QAM, 1 256QAM, 2 64QAM with low spectral efficiency.
[[nodiscard]] constexpr std::uint8_t mcs_table_of(const TbShape& shape) {
  return static_cast<std::uint8_t>(static_cast<unsigned>(shape.table) - 1);
}

}  // namespace splitplane::phy

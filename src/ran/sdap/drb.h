// A DRB of one PDU session, as RRC configures it for SDAP (TS 38.331 SDAP-Config).
#pragma once

#include <cstdint>
#include <optional>

#include "base/types.h"

namespace splitplane::ran::sdap {

using DrbId = Strong<struct DrbIdTag, std::uint8_t>;  // DRB-Identity, 1 to 32; 0: no DRB

inline constexpr std::uint8_t kMaxDrb = 32;
inline constexpr std::size_t kFlows = 64;  // QFI 0 to 63 (TS 38.415 5.5.3.3)

struct DrbConfig {
  bool header_ul = false;  // sdap-HeaderUL
  bool header_dl = false;  // sdap-HeaderDL
  std::optional<Qfi> qfi;  // the only UL flow of a DRB without an UL header

  friend bool operator==(const DrbConfig&, const DrbConfig&) = default;
};

}  // namespace splitplane::ran::sdap

// What one slot gives one UE in one direction. Scheduler, HARQ, MAC and PHY share it.
#pragma once

#include "base/types.h"
#include "phy/slots/slot.h"

namespace splitplane::phy {

using Rnti = std::uint16_t;  // C-RNTI: 1..65519 (TS 38.321 7.1)

inline constexpr std::uint8_t kHarqProcesses = 16;  // of a UE and direction (TS 38.214 5.1)
inline constexpr std::uint8_t kNoProcess = 0xFF;

// A transport block that goes to the air in a slot, for the first time or again.
struct Grant {
  Slot slot;
  Rnti rnti = 0;
  Direction direction = Direction::kDownlink;
  bool retransmission = false;
  std::uint16_t ue = 0;      // the UE's place in the facts of this slot
  std::uint8_t process = 0;  // HARQ process, 0..15
  std::uint8_t ndi = 0;      // new-data indicator: it toggles with each new TB of the process
  std::uint8_t rv = 0;       // redundancy version
  std::uint8_t mcs = 0;
  std::uint16_t first_prb = 0, prbs = 0;
  std::uint32_t tb_bytes = 0;  // a retransmission has the size of the first one
};

}  // namespace splitplane::phy

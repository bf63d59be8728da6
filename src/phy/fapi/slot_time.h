// The slot that most messages of P7 begin with: SFN 0..1023 and slot 0..159 of the frame (numerology 4 has 160).
#pragma once

#include <cstdint>

#include "phy/fapi/reason.h"

namespace splitplane::fapi {

inline constexpr std::uint16_t kMaxSfn = 1023;
inline constexpr std::uint16_t kMaxSlot = 159;

template <class Io, class Self>
void slot_fields(Io& io, Self& m) {
  io("sfn", m.sfn);
  io("slot", m.slot);
  if (!io.ok()) return;
  if (m.sfn > kMaxSfn) io.refuse(Reason::bad_sfn);
  if (m.slot > kMaxSlot) io.refuse(Reason::bad_slot);
}

}  // namespace splitplane::fapi

// SLOT.indication: the PHY says which slot it is in (SCF-222.10.02 table 3-34).
#pragma once

#include "phy/fapi/message_id.h"
#include "phy/fapi/slot_time.h"

namespace splitplane::fapi {

struct SlotIndication {
  static constexpr MessageId kId = MessageId::kSlotIndication;

  std::uint16_t sfn = 0;
  std::uint16_t slot = 0;

  template <class Io, class Self>
  static void fields(Io& io, Self& m) {
    slot_fields(io, m);
  }

  friend bool operator==(const SlotIndication&, const SlotIndication&) = default;
};

}  // namespace splitplane::fapi

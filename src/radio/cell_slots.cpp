#include "radio/cell_slots.h"

#include <algorithm>

namespace splitplane::datapath {

CellSlots::CellSlots(const Settings& settings)
    : downlink_(settings.downlink), uplink_(settings.uplink), uplink_after_(settings.uplink_after) {}

CellSlots::Plan CellSlots::run(Cell& cell, phy::Slot slot, Time now, std::uint64_t read) {
  std::int64_t passed = number_ == 0 ? 1 : phy::distance(slot_, slot);
  if (passed <= 0) [[unlikely]] {
    ++counters_.time_jumps;
    reset();
    passed = 1;
  }
  number_ += static_cast<std::uint64_t>(passed);
  slot_ = slot;
  Plan plan{.number = number_,
            .slot = slot,
            .uplink_slot = phy::after(slot, static_cast<std::int32_t>(uplink_after_)),
            .downlink = downlink_.run(cell, slot, number_, now, read),
            .uplink = {},
            .request_chances = {}};
  plan.uplink = uplink_.run(cell, plan.uplink_slot, number_ + uplink_after_);
  plan.request_chances = uplink_.request_chances();
  return plan;
}

void CellSlots::feedback(Cell& cell, Rnti rnti, phy::Slot sent_in, bool ack) {
  const RadioUe* const ue = cell.find(rnti);
  if (ue == nullptr) [[unlikely]] {
    ++counters_.feedback_of_no_ue;
    return;
  }
  (void)downlink_.feedback(*ue, sent_in, ack);
}

void CellSlots::requested(Cell& cell, Rnti rnti) {
  const RadioUe* const ue = cell.find(rnti);
  if (ue == nullptr) [[unlikely]] {
    ++counters_.requests_of_no_ue;
    return;
  }
  uplink_.requested(*ue);
}

}  // namespace splitplane::datapath

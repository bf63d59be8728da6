// Between a gNB worker in full mode and the thread that talks to its PHY: what the PHY says, and what the worker orders
// of it. Neither waits for the other, and the worker makes no system call.
#pragma once

#include "radio/phy_reports.h"
#include "radio/slot_orders.h"

namespace splitplane::datapath {

struct PhyExchange {
  struct Settings {
    std::size_t report_bytes = std::size_t{4} << 20;  // room for what the PHY said and the worker has not read
    std::size_t most_grants = 64;                     // of a slot and direction
    std::size_t most_chances = 64;                    // scheduling requests of a slot
    unsigned lead_slots = 4;                          // how far ahead of the PHY's slot the worker plans
  };
  explicit PhyExchange(const Settings& settings)
      : reports(settings.report_bytes),
        orders(settings.most_grants, settings.most_chances),
        lead(settings.lead_slots) {}

  PhyReports reports;
  SlotOrders orders;
  unsigned lead;
  // Slots that were reported: by the PHY's thread; and that the worker is done with, whether it planned one or not.
  std::atomic<std::uint64_t> slots_reported{0}, slots_done{0};
  // Slot::index() of the last one that was reported. Others may still be on the way to a worker that stood still.
  std::atomic<std::uint32_t> newest_slot{0};
};

}  // namespace splitplane::datapath

// What the PHY said since the last call. HARQ feedback, scheduling requests and transport blocks of UEs go to MAC, and
// for each slot that began a later one is planned: which blocks and which grants go out in it.
#pragma once

#include <rte_cycles.h>

#include <array>
#include <utility>

#include "radio/phy_exchange.h"

namespace splitplane::datapath {

// Plans the slot `lead` slots after `begun`. A slot that has begun when the plan would come is passed over.
inline void plan_slot(PhyExchange& phy, CellSlots& slots, Cell& cell, WorkerStats& stats, phy::Slot begun) {
  const phy::Slot planned = phy::after(begun, phy.lead);
  const phy::Slot newest = phy::slot_at(begun.numerology, phy.newest_slot.load(std::memory_order_acquire));
  if (phy::distance(newest, planned) <= 0 || phy.orders.full()) [[unlikely]] {
    stats.phy_slots_passed_over.add(1);
    return;
  }
  phy.orders.put(slots.run(cell, planned, rte_rdtsc(), phy.orders.read()));
  stats.phy_slots_planned.add(1);
}

// Calls pdu(LogicalChannel&, rte_mbuf*) for each uplink RLC PDU, and then end_of_pdus(), before slots are planned.
// Returns the number of reports.
template <class TakePdu, class EndOfPdus>
unsigned serve_phy(PhyExchange& phy, CellSlots& slots, Cell& cell, WorkerStats& stats, TakePdu&& pdu,
                   EndOfPdus&& end_of_pdus) {
  constexpr unsigned kReportsPerRound = 64;
  std::array<phy::Slot, kReportsPerRound> begun;
  unsigned count = 0, all = 0;
  using Kind = PhyReport::Kind;
  const unsigned reports = phy.reports.take(
      [&](const PhyReport& report, wire::Octets octets) {
        switch (report.kind) {
          case Kind::kRuns:
          case Kind::kAway:
            stats.phy_slots_passed_over.add(std::exchange(count, 0));  // they were of the PHY's life before
            return slots.reset();
          case Kind::kSlot:
            begun[count++] = report.slot;
            ++all;
            return;
          case Kind::kHarq:
            return slots.feedback(cell, report.rnti, report.slot, report.good);
          case Kind::kRequest:
            return slots.requested(cell, report.rnti);
          case Kind::kBlock:
            slots.received(cell, report.rnti, report.process, report.slot, report.good, octets, pdu);
            return;
        }
      },
      kReportsPerRound);
  end_of_pdus();
  for (unsigned i = 0; i < count; ++i) plan_slot(phy, slots, cell, stats, begun[i]);
  if (all != 0) phy.slots_done.fetch_add(all, std::memory_order_release);
  return reports;
}

}  // namespace splitplane::datapath

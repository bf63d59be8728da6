// Both directions of a cell, slot by slot: what a worker calls between its cell and a PHY. The PHY thread reads the
// blocks of a plan later; it says by a number how far it is. Nothing is allocated after the start.
//
//   for each slot of the PHY:  run() -> Plan -> PHY thread
//   for each indication of it: feedback() (HARQ-ACK), requested() (SR), received() (CRC and octets of a PUSCH)
#pragma once

#include "radio/downlink_slots.h"
#include "radio/uplink_slots.h"

namespace splitplane::datapath {

class CellSlots {
 public:
  struct Settings {
    DownlinkSlots::Settings downlink;
    UplinkSlots::Settings uplink;
    unsigned uplink_after = 4;  // K: slots from a DL slot to the PUSCHs that it grants, and to its HARQ-ACKs
  };
  struct Counters {
    // Indications for a C-RNTI that no UE has: its UE left, or has another C-RNTI now.
    std::uint64_t feedback_of_no_ue = 0, requests_of_no_ue = 0, blocks_of_no_ue = 0;
    std::uint64_t time_jumps = 0;  // slots that are not after the one before: as if the PHY had begun again
  };
  // What goes to the PHY for one slot. It is valid until the next run(); its blocks, until they were read.
  struct Plan {
    std::uint64_t number = 0;  // grows with each plan; the first one has a number above 0
    phy::Slot slot;            // of the downlink, and of the DCIs for the uplink
    phy::Slot uplink_slot;     // of the PUSCHs, the HARQ-ACKs of `downlink`, and the chances to request
    std::span<const DownlinkSlots::Sent> downlink;
    std::span<const phy::Grant> uplink;
    std::span<const phy::Rnti> request_chances;
  };

  explicit CellSlots(const Settings& settings);

  // Plans a downlink slot. `read` is the number of the last plan whose blocks the PHY thread has read, or 0: later
  // blocks keep their memory even if HARQ is done with them.
  Plan run(Cell& cell, phy::Slot slot, Time now, std::uint64_t read);

  // A HARQ-ACK of the PDSCH that the UE had in this downlink slot. No answer (DTX) is a NACK.
  void feedback(Cell& cell, Rnti rnti, phy::Slot sent_in, bool ack);
  // A scheduling request.
  void requested(Cell& cell, Rnti rnti);
  // What the PHY says of a PUSCH; see UplinkSlots::received(). A block whose octets are missing counts as CRC error.
  template <class TakePdu>
  UplinkReception received(Cell& cell, Rnti rnti, std::uint8_t process, phy::Slot slot, bool crc_ok, wire::Octets block,
                           TakePdu&& pdu) {
    RadioUe* const ue = cell.find(rnti);
    if (ue == nullptr) [[unlikely]] {
      ++counters_.blocks_of_no_ue;
      return UplinkReception::no_ue;
    }
    return uplink_.received(cell, *ue, process, slot, crc_ok && !block.empty(), block, pdu);
  }

  // The UE leaves. After Cell::detach() said so, before the UE is destroyed.
  void remove(RadioUe& ue) {
    downlink_.remove(ue);
    uplink_.remove(ue);
  }
  // The PHY stopped or begins again: nothing is in the air any more, and what UEs asked for is forgotten.
  void reset() {
    downlink_.reset();
    uplink_.reset();
  }

  [[nodiscard]] const DownlinkSlots& downlink() const { return downlink_; }
  [[nodiscard]] const UplinkSlots& uplink() const { return uplink_; }
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  DownlinkSlots downlink_;
  UplinkSlots uplink_;
  unsigned uplink_after_;
  phy::Slot slot_;            // of the last plan
  std::uint64_t number_ = 0;  // of the last plan; 0: there was none
  Counters counters_;
};

}  // namespace splitplane::datapath

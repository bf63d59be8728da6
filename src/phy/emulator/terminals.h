// What the emulator of a PHY needs of the UEs behind it. All calls come on the emulator's thread, slot by slot.
#pragma once

#include "phy/slots/grant.h"
#include "wire/bytes.h"

namespace splitplane::phy {

// What a UE answers to a transport block. kNone: there is no such UE, or it did not understand its DCI (DTX).
enum class Answer : std::uint8_t { kAck, kNack, kNone };

class Terminals {
 public:
  virtual ~Terminals() = default;

  // START.request: frame numbers and the HARQ processes of the L2 begin anew, so MAC of all UEs is reset.
  virtual void phy_starts() = 0;

  // In a slot come first the blocks that UEs receive, then the grants that reach them, then what they send.

  // A transport block for a UE. `decoded`: its CRC is right; else its octets are for observers only. `now` is the slot
  // of the grant. The octets are valid during the call. Grant::retransmission and Grant::ue say nothing here.
  virtual Answer receive(const Grant& downlink, wire::Octets block, bool decoded, Slot now) = 0;

  // DCI 0_0 reached the UE. The grant's slot is the one of its PUSCH, which comes later.
  virtual void granted(const Grant& uplink) = 0;

  // The slot of a PUSCH that was granted: its transport block, of the size of the grant. Empty: the UE sends none. The
  // octets stay as they are until end_slot(). It is called once for each grant that reached a UE.
  virtual wire::Octets transmit(Rnti rnti, Slot now) = 0;

  // A chance to ask for a grant (SR): true if the UE uses it.
  virtual bool requests(Rnti rnti, Slot now) = 0;

  // All calls of this slot are made. It comes for each slot that a running PHY counts.
  virtual void end_slot(Slot now) = 0;
};

// Sees each transport block that crosses the air, also one that is not decoded.
class AirObserver {
 public:
  virtual ~AirObserver() = default;
  // The direction is in the grant, and the slot is the one in which the block crosses. The octets are valid during the
  // call.
  virtual void crossed(const Grant& grant, wire::Octets block, bool decoded) = 0;
};

}  // namespace splitplane::phy

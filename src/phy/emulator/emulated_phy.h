// An emulated PHY on its sockets: PhyPeer, slot clock and emulator. One thread owns it; any may read counters.
#pragma once

#include <optional>

#include "phy/emulator/emulator.h"
#include "phy/slots/slot_clock.h"

namespace splitplane::phy {

class EmulatedPhy {
 public:
  EmulatedPhy(const PhyPeer::Settings& peer, DatagramSocket p5, DatagramSocket p7, const Emulator::Settings& emulator,
              Terminals& terminals, AirObserver* observer = nullptr);

  // Takes messages, and begins the slot whose time has come. It never waits. `now` is CLOCK_MONOTONIC, or any other
  // clock that never goes back. A slot that passed without a call is not made up for: the PHY's count of slots then
  // falls behind the clock's, and the L2 loses no slot.
  void poll(Ns now);
  // When poll() has something to do, unless a datagram comes before. Of use for ppoll() on the descriptors of
  // peer().p5() and peer().p7().
  [[nodiscard]] Ns next_event(Ns now) const;

  [[nodiscard]] Emulator& emulator() { return emulator_; }
  [[nodiscard]] const Emulator& emulator() const { return emulator_; }
  [[nodiscard]] const PhyPeer& peer() const { return peer_; }
  // Slots of the clock that passed without a call, while the PHY ran.
  [[nodiscard]] std::uint64_t slots_missed() const { return missed_.get(); }

 private:
  class Sender;

  void begin_slot(Ns now);

  Emulator emulator_;
  PhyPeer peer_;
  std::optional<SlotClock> clock_;            // while the PHY runs
  std::uint64_t starts_ = 0;                  // of the emulator, when the clock was set
  std::optional<fapi::SlotIndication> slot_;  // the one that runs
  Counter missed_;
};

}  // namespace splitplane::phy

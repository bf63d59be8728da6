// The SFP+ slot of an 82599: the link mode that its serial interface needs, and the module's laser. On such NICs the
// MAC speaks SFI to the module, at 10 Gbit/s and without auto-negotiation (3.7.4). Two software-definable pins lead to
// the slot: SDP2 reports a module, SDP3 is the module's TX_DISABLE.
//
// SDP2 set means that a module is in: so Linux' driver ixgbe reads it of an 82599 (ixgbe_check_mac_link_generic:
// sfp_cage_full). The module's own pin MOD_ABS has the other sense, so the card must invert it. Not verified.
//
// Not done: some EEPROMs have for each kind of module a list of analog settings for the core, which a driver writes
// when it has read over I2C what is plugged in. Not tried on hardware.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "gpu/nic/bar.h"

namespace splitplane::gpu {

class SfpSlot {
 public:
  using Sleep = std::function<void(std::chrono::microseconds)>;

  SfpSlot(Bar& bar, Sleep sleep) : bar_(bar), sleep_(std::move(sleep)) {}

  // True if no module is in the slot.
  [[nodiscard]] bool is_empty();
  // Switches the laser off, and on again; returns when the module must have followed (SFF-8431, table 8).
  void darken();
  void light();
  // Sets AUTOC2 and AUTOC for 10 Gbit/s over SFI, and restarts the link to apply them (4.6.4, 8.2.3.22.19). The caller
  // holds the semaphore of the MAC's registers. The laser is off meanwhile, so that the far end sees one link and not
  // two.
  void use_sfi();

 private:
  Bar& bar_;
  Sleep sleep_;
};

}  // namespace splitplane::gpu

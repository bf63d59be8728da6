// The PHY's side of FAPI as a state machine (SCF-222.10.02 2.1): IDLE, CONFIGURED, RUNNING, which messages are legal in
// each, and what is answered to those that are not. It is pure: the caller reads messages, sends the answers and tells
// the time in slots.
//
//            CONFIG.request          START.request
//   IDLE ---------------> CONFIGURED ---------------> RUNNING     slots and their messages
//                          ^  CONFIG.request             |
//                          '-----------------------------'
//                            STOP.request: STOP.indication
#pragma once

#include <optional>

#include "phy/fapi/p5.h"
#include "phy/fapi/slot_indication.h"

namespace splitplane::fapi {

class PhyMachine {
 public:
  // `capabilities` is answered to PARAM.request, with the state filled in. `slots_early` is how far ahead of the
  // current slot a message may be, where CONFIG.request has no timing_window.
  PhyMachine(const ParamResponse& capabilities, unsigned slots_early);

  [[nodiscard]] PhyState state() const { return state_; }
  [[nodiscard]] const ConfigRequest& config() const { return config_; }

  [[nodiscard]] ParamResponse receive(const ParamRequest& request) const;
  // Takes all TLVs, or none and says which are missing or invalid.
  [[nodiscard]] ConfigResponse receive(const ConfigRequest& request);
  // Nothing, or what to send: START.request has no response, the first SLOT.indication is one.
  [[nodiscard]] std::optional<ErrorIndication> receive(const StartRequest& request);
  // Nothing: answer STOP.indication. Or an error.
  [[nodiscard]] std::optional<ErrorIndication> receive(const StopRequest& request);

  // A message of a slot: DL_TTI, UL_TTI or TX_DATA. Late ones, and those too early, are refused.
  [[nodiscard]] std::optional<ErrorIndication> receive_for_slot(MessageId id, std::uint16_t sfn, std::uint16_t slot);
  // A message that a PHY does not take in any state, or that could not be read. IDs of nFAPI's own messages do not fit
  // into ERROR.indication, and are 0xFF there.
  [[nodiscard]] ErrorIndication refuse(std::uint16_t message_id, ErrorCode code) const;

  // The next slot begins. Nothing unless the PHY is RUNNING; else what to send.
  [[nodiscard]] std::optional<SlotIndication> begin_slot();

 private:
  [[nodiscard]] unsigned slots_per_frame() const { return 10U << config_.scs_common.value_or(0); }

  ParamResponse capabilities_;
  unsigned slots_early_;
  PhyState state_ = PhyState::kIdle;
  ConfigRequest config_;
  SlotIndication now_;
  bool began_ = false;  // the first slot after START
};

}  // namespace splitplane::fapi

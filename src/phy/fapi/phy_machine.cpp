#include "phy/fapi/phy_machine.h"

#include <algorithm>

namespace splitplane::fapi {
namespace {

constexpr std::uint16_t kMaxGridSize = 275, kMaxPhyCellId = 1007, kMaxNumerology = 3;
constexpr std::uint8_t kMaxTimingWindow = 30;

bool grid_is_valid(const PerNumerology& grid) {
  return std::ranges::all_of(grid, [](std::uint16_t rbs) { return rbs <= kMaxGridSize; }) &&
         std::ranges::any_of(grid, [](std::uint16_t rbs) { return rbs != 0; });
}

// Whether the PHY can do what a TLV of `r` says. `member` is the address of the TLV's member.
bool is_valid(const ConfigRequest& r, const void* member) {
  if (member == &r.dl_grid_size) return grid_is_valid(*r.dl_grid_size);
  if (member == &r.ul_grid_size) return grid_is_valid(*r.ul_grid_size);
  if (member == &r.phy_cell_id) return *r.phy_cell_id <= kMaxPhyCellId;
  if (member == &r.frame_duplex_type) return *r.frame_duplex_type <= 1;
  if (member == &r.scs_common) return *r.scs_common <= kMaxNumerology;  // data slots of 15 to 120 kHz
  if (member == &r.timing_window) return *r.timing_window <= kMaxTimingWindow;
  return true;
}

// What a PHY cannot run without.
bool is_mandatory(const ConfigRequest& r, const void* member) {
  return member == &r.dl_grid_size || member == &r.ul_grid_size || member == &r.phy_cell_id ||
         member == &r.frame_duplex_type || member == &r.scs_common;
}

// The old values, with those that `request` has in their place.
ConfigRequest merged(const ConfigRequest& old, const ConfigRequest& request) {
  ConfigRequest result = request;
  ConfigRequest kept = old;
  ConfigRequest::tlvs(result, [&kept]<class Member>(const char*, std::uint16_t tag, Member& member) {
    ConfigRequest::tlvs(kept, [&member, tag]<class Other>(const char*, std::uint16_t its_tag, Other& its) {
      if constexpr (std::is_same_v<Member, Other>) {
        if (its_tag == tag && !member) member = its;
      }
    });
  });
  return result;
}

}  // namespace

PhyMachine::PhyMachine(const ParamResponse& capabilities, unsigned slots_early)
    : capabilities_(capabilities), slots_early_(slots_early) {}

ParamResponse PhyMachine::receive(const ParamRequest&) const {
  if (state_ == PhyState::kRunning) {
    ParamResponse refusal;
    refusal.error_code = ErrorCode::kInvalidState;
    return refusal;
  }
  ParamResponse response = capabilities_;
  response.phy_state = static_cast<std::uint16_t>(state_);
  return response;
}

ConfigResponse PhyMachine::receive(const ConfigRequest& request) {
  ConfigResponse response;
  if (state_ == PhyState::kRunning) {
    response.error_code = ErrorCode::kInvalidState;
    return response;
  }
  const ConfigRequest wanted = merged(config_, request);
  ConfigRequest::tlvs(wanted, [&](const char*, std::uint16_t tag, const auto& value) {
    if (!value && is_mandatory(wanted, &value)) response.missing.add(tag);
    if (value && !is_valid(wanted, &value)) response.invalid.add(tag);
  });
  if (!response.missing.empty() || !response.invalid.empty()) {
    response.error_code = ErrorCode::kInvalidConfig;
    return response;
  }
  config_ = wanted;
  state_ = PhyState::kConfigured;
  return response;
}

std::optional<ErrorIndication> PhyMachine::receive(const StartRequest&) {
  if (state_ != PhyState::kConfigured) {
    return refuse(static_cast<std::uint16_t>(MessageId::kStartRequest), ErrorCode::kInvalidState);
  }
  state_ = PhyState::kRunning;
  now_ = {};
  began_ = false;
  return std::nullopt;
}

std::optional<ErrorIndication> PhyMachine::receive(const StopRequest&) {
  if (state_ != PhyState::kRunning) {
    return refuse(static_cast<std::uint16_t>(MessageId::kStopRequest), ErrorCode::kInvalidState);
  }
  state_ = PhyState::kConfigured;
  return std::nullopt;
}

std::optional<ErrorIndication> PhyMachine::receive_for_slot(MessageId id, std::uint16_t sfn, std::uint16_t slot) {
  const auto number = static_cast<std::uint16_t>(id);
  if (state_ != PhyState::kRunning) return refuse(number, ErrorCode::kInvalidState);
  const unsigned in_frame = slots_per_frame();
  if (slot >= in_frame || sfn > kMaxSfn) return refuse(number, ErrorCode::kSlotError);
  const unsigned all = (kMaxSfn + 1U) * in_frame;
  const unsigned ahead = (sfn * in_frame + slot + all - (now_.sfn * in_frame + now_.slot)) % all;
  const unsigned window = config_.timing_window ? *config_.timing_window : slots_early_;
  if (ahead <= window) return std::nullopt;
  return refuse(number, id == MessageId::kTxDataRequest ? ErrorCode::kInvalidSfn : ErrorCode::kSfnOutOfSync);
}

ErrorIndication PhyMachine::refuse(std::uint16_t message_id, ErrorCode code) const {
  const auto id = static_cast<std::uint8_t>(std::min<std::uint16_t>(message_id, 0xFF));
  return {.sfn = now_.sfn, .slot = now_.slot, .message_id = id, .error_code = code};
}

std::optional<SlotIndication> PhyMachine::begin_slot() {
  if (state_ != PhyState::kRunning) return std::nullopt;
  if (began_ && ++now_.slot == slots_per_frame()) {
    now_.slot = 0;
    now_.sfn = static_cast<std::uint16_t>((now_.sfn + 1) & kMaxSfn);
  }
  began_ = true;
  return now_;
}

}  // namespace splitplane::fapi

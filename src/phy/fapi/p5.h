// P5: how the PHY is configured, started and stopped (SCF-222.10.02 3.3). TLVs that a user plane does not need (SSB,
// PRACH, TDD pattern, beams) are not held: a reader skips and counts them.
#pragma once

#include "phy/fapi/message_id.h"
#include "phy/fapi/slot_time.h"
#include "phy/fapi/tlvs.h"

namespace splitplane::fapi {

enum class PhyState : std::uint8_t { kIdle = 0, kConfigured = 1, kRunning = 2 };

// A message whose ID says everything (3.3.1.1, 3.3.3.1, 3.3.4.1, 3.3.4.2).
template <MessageId id>
struct EmptyMessage {
  static constexpr MessageId kId = id;

  template <class Io, class Self>
  static void fields(Io&, Self&) {}

  friend bool operator==(const EmptyMessage&, const EmptyMessage&) = default;
};

using ParamRequest = EmptyMessage<MessageId::kParamRequest>;
using StartRequest = EmptyMessage<MessageId::kStartRequest>;
using StopRequest = EmptyMessage<MessageId::kStopRequest>;
using StopIndication = EmptyMessage<MessageId::kStopIndication>;

// What the PHY can do (table 3-6; TLVs of tables 3-9, 3-10, 3-13, 3-14).
struct ParamResponse {
  static constexpr MessageId kId = MessageId::kParamResponse;

  ErrorCode error_code = ErrorCode::kOk;
  std::optional<std::uint16_t> release_capability;               // bit 0: Release 15
  std::optional<std::uint16_t> phy_state;                        // PhyState
  std::optional<std::uint8_t> skip_blank_dl_config;              // 1: no DL_TTI.request for an empty slot
  std::optional<std::uint8_t> skip_blank_ul_config;              // 1: no UL_TTI.request for an empty slot
  std::optional<std::uint8_t> cyclic_prefix;                     // bit 0 normal, bit 1 extended
  std::optional<std::uint8_t> supported_subcarrier_spacings_dl;  // bit n: numerology n
  std::optional<std::uint16_t> supported_bandwidth_dl;           // bits from 5 MHz on
  std::optional<std::uint8_t> supported_subcarrier_spacings_ul;
  std::optional<std::uint16_t> supported_bandwidth_ul;
  std::optional<std::uint8_t> max_pdschs_tbs_per_slot;
  std::optional<std::uint8_t> max_number_mimo_layers_pdsch;
  std::optional<std::uint8_t> supported_max_modulation_order_dl;  // 0 QPSK to 3 256QAM
  std::optional<std::uint8_t> max_puschs_tbs_per_slot;
  std::optional<std::uint8_t> max_number_mimo_layers_non_cb_pusch;
  std::optional<std::uint8_t> supported_max_modulation_order_ul;
  std::uint8_t skipped_tlvs = 0;  // of the message that was read

  template <class Self, class Visit>
  static void tlvs(Self& m, Visit visit) {
    visit("release_capability", 0x0001, m.release_capability);
    visit("phy_state", 0x0002, m.phy_state);
    visit("skip_blank_dl_config", 0x0003, m.skip_blank_dl_config);
    visit("skip_blank_ul_config", 0x0004, m.skip_blank_ul_config);
    visit("cyclic_prefix", 0x0006, m.cyclic_prefix);
    visit("supported_subcarrier_spacings_dl", 0x0007, m.supported_subcarrier_spacings_dl);
    visit("supported_bandwidth_dl", 0x0008, m.supported_bandwidth_dl);
    visit("supported_subcarrier_spacings_ul", 0x0009, m.supported_subcarrier_spacings_ul);
    visit("supported_bandwidth_ul", 0x000A, m.supported_bandwidth_ul);
    visit("max_pdschs_tbs_per_slot", 0x001A, m.max_pdschs_tbs_per_slot);
    visit("max_number_mimo_layers_pdsch", 0x001B, m.max_number_mimo_layers_pdsch);
    visit("supported_max_modulation_order_dl", 0x001C, m.supported_max_modulation_order_dl);
    visit("max_puschs_tbs_per_slot", 0x002C, m.max_puschs_tbs_per_slot);
    visit("max_number_mimo_layers_non_cb_pusch", 0x002D, m.max_number_mimo_layers_non_cb_pusch);
    visit("supported_max_modulation_order_ul", 0x002E, m.supported_max_modulation_order_ul);
  }

  template <class Io, class Self>
  static void fields(Io& io, Self& m) {
    io("error_code", m.error_code);
    tlv_fields(io, m);
  }

  friend bool operator==(const ParamResponse&, const ParamResponse&) = default;
};

// Table 3-17; TLVs of tables 3-21 to 3-23, and those that nFAPI adds (SCF-225).
struct ConfigRequest {
  static constexpr MessageId kId = MessageId::kConfigRequest;

  std::optional<std::uint16_t> dl_bandwidth;  // MHz
  std::optional<std::uint32_t> dl_frequency;  // point A, kHz
  std::optional<PerNumerology> dl_k0;
  std::optional<PerNumerology> dl_grid_size;  // RBs, 0: numerology not used
  std::optional<std::uint16_t> num_tx_ant;
  std::optional<std::uint16_t> uplink_bandwidth;
  std::optional<std::uint32_t> uplink_frequency;
  std::optional<PerNumerology> ul_k0;
  std::optional<PerNumerology> ul_grid_size;
  std::optional<std::uint16_t> num_rx_ant;
  std::optional<std::uint8_t> frequency_shift_7p5khz;
  std::optional<std::uint16_t> phy_cell_id;
  std::optional<std::uint8_t> frame_duplex_type;  // 0 FDD, 1 TDD
  std::optional<std::int32_t> ss_pbch_power;      // dBm
  std::optional<std::uint8_t> bch_payload;
  std::optional<std::uint8_t> scs_common;
  std::optional<std::array<std::uint8_t, 4>> p7_vnf_address_ipv4;  // where the PHY sends P7 to
  std::optional<std::uint16_t> p7_vnf_port;
  std::optional<std::uint8_t> timing_window;       // slots that a message for a slot may be early, 0..30
  std::optional<std::uint8_t> timing_info_mode;    // bit 0 periodic, bit 1 when a message is late
  std::optional<std::uint8_t> timing_info_period;  // slots
  std::uint8_t skipped_tlvs = 0;                   // of the message that was read

  template <class Self, class Visit>
  static void tlvs(Self& m, Visit visit) {
    visit("dl_bandwidth", 0x1001, m.dl_bandwidth);
    visit("dl_frequency", 0x1002, m.dl_frequency);
    visit("dl_k0", 0x1003, m.dl_k0);
    visit("dl_grid_size", 0x1004, m.dl_grid_size);
    visit("num_tx_ant", 0x1005, m.num_tx_ant);
    visit("uplink_bandwidth", 0x1006, m.uplink_bandwidth);
    visit("uplink_frequency", 0x1007, m.uplink_frequency);
    visit("ul_k0", 0x1008, m.ul_k0);
    visit("ul_grid_size", 0x1009, m.ul_grid_size);
    visit("num_rx_ant", 0x100A, m.num_rx_ant);
    visit("frequency_shift_7p5khz", 0x100B, m.frequency_shift_7p5khz);
    visit("phy_cell_id", 0x100C, m.phy_cell_id);
    visit("frame_duplex_type", 0x100D, m.frame_duplex_type);
    visit("ss_pbch_power", 0x100E, m.ss_pbch_power);
    visit("bch_payload", 0x100F, m.bch_payload);
    visit("scs_common", 0x1010, m.scs_common);
    visit("p7_vnf_address_ipv4", 0x0100, m.p7_vnf_address_ipv4);
    visit("p7_vnf_port", 0x0102, m.p7_vnf_port);
    visit("timing_window", 0x011E, m.timing_window);
    visit("timing_info_mode", 0x011F, m.timing_info_mode);
    visit("timing_info_period", 0x0120, m.timing_info_period);
  }

  template <class Io, class Self>
  static void fields(Io& io, Self& m) {
    tlv_fields(io, m);
  }

  friend bool operator==(const ConfigRequest&, const ConfigRequest&) = default;
};

// Table 3-18: which TLVs the PHY did not take. Each is named by its tag, with a length of 0.
struct ConfigResponse {
  static constexpr MessageId kId = MessageId::kConfigResponse;
  static constexpr std::size_t kMaxTags = 64;  // CONFIG.request has 21 of them
  using Tags = Bounded<std::uint16_t, kMaxTags>;

  ErrorCode error_code = ErrorCode::kOk;
  Tags invalid;       // not supported, or with a wrong value
  Tags idle_only;     // taken in IDLE only
  Tags running_only;  // taken in RUNNING only
  Tags missing;

  template <class Io, class Self>
  static void fields(Io& io, Self& m) {
    auto num_invalid = static_cast<std::uint8_t>(m.invalid.size());
    auto num_idle_only = static_cast<std::uint8_t>(m.idle_only.size());
    auto num_running_only = static_cast<std::uint8_t>(m.running_only.size());
    auto num_missing = static_cast<std::uint8_t>(m.missing.size());
    io("error_code", m.error_code);
    io("num_invalid_tlvs", num_invalid);
    io("num_idle_only_tlvs", num_idle_only);
    io("num_running_only_tlvs", num_running_only);
    io("num_missing_tlvs", num_missing);
    const auto named = [](auto& each, auto& tag) {
      std::uint16_t length = 0;
      each("tag", tag);
      each("length", length);
      const std::size_t begin = each.bytes();
      Payload value;
      each.payload("value", value, length);
      each.pad(begin);
    };
    io.elements("invalid_tlvs", m.invalid, num_invalid, named);
    io.elements("idle_only_tlvs", m.idle_only, num_idle_only, named);
    io.elements("running_only_tlvs", m.running_only, num_running_only, named);
    io.elements("missing_tlvs", m.missing, num_missing, named);
  }

  friend bool operator==(const ConfigResponse&, const ConfigResponse&) = default;
};

// Table 3-30: the PHY could not do what a message asks.
struct ErrorIndication {
  static constexpr MessageId kId = MessageId::kErrorIndication;

  std::uint16_t sfn = 0;
  std::uint16_t slot = 0;
  std::uint8_t message_id = 0;  // the message with the error
  ErrorCode error_code = ErrorCode::kOk;

  template <class Io, class Self>
  static void fields(Io& io, Self& m) {
    slot_fields(io, m);
    io("message_id", m.message_id);
    io("error_code", m.error_code);
  }

  friend bool operator==(const ErrorIndication&, const ErrorIndication&) = default;
};

}  // namespace splitplane::fapi

// What FAPI calls its messages and errors, by number.
#pragma once

#include <cstdint>
#include <string_view>

namespace splitplane::fapi {

// SCF-222 table 3-4; from 0x0100 on, messages that nFAPI adds (SCF-225).
enum class MessageId : std::uint16_t {
  kParamRequest = 0x00,
  kParamResponse = 0x01,
  kConfigRequest = 0x02,
  kConfigResponse = 0x03,
  kStartRequest = 0x04,
  kStopRequest = 0x05,
  kStopIndication = 0x06,
  kErrorIndication = 0x07,
  kDlTtiRequest = 0x80,
  kUlTtiRequest = 0x81,
  kSlotIndication = 0x82,
  kUlDciRequest = 0x83,
  kTxDataRequest = 0x84,
  kRxDataIndication = 0x85,
  kCrcIndication = 0x86,
  kUciIndication = 0x87,
  kDlNodeSync = 0x0180,
  kUlNodeSync = 0x0181,
  kTimingInfo = 0x0182,
};

// The name as in the specifications, in lower case; "unknown" for what is not offered here.
[[nodiscard]] constexpr std::string_view name_of(MessageId id) {
  switch (id) {
    case MessageId::kParamRequest:
      return "param.request";
    case MessageId::kParamResponse:
      return "param.response";
    case MessageId::kConfigRequest:
      return "config.request";
    case MessageId::kConfigResponse:
      return "config.response";
    case MessageId::kStartRequest:
      return "start.request";
    case MessageId::kStopRequest:
      return "stop.request";
    case MessageId::kStopIndication:
      return "stop.indication";
    case MessageId::kErrorIndication:
      return "error.indication";
    case MessageId::kDlTtiRequest:
      return "dl_tti.request";
    case MessageId::kUlTtiRequest:
      return "ul_tti.request";
    case MessageId::kSlotIndication:
      return "slot.indication";
    case MessageId::kUlDciRequest:
      return "ul_dci.request";
    case MessageId::kTxDataRequest:
      return "tx_data.request";
    case MessageId::kRxDataIndication:
      return "rx_data.indication";
    case MessageId::kCrcIndication:
      return "crc.indication";
    case MessageId::kUciIndication:
      return "uci.indication";
    case MessageId::kDlNodeSync:
      return "dl_node_sync";
    case MessageId::kUlNodeSync:
      return "ul_node_sync";
    case MessageId::kTimingInfo:
      return "timing_info";
  }
  return "unknown";
}

// SCF-222 table 3-31.
enum class ErrorCode : std::uint8_t {
  kOk = 0,
  kInvalidState = 1,
  kInvalidConfig = 2,
  kSfnOutOfSync = 3,
  kSlotError = 4,
  kBchMissing = 5,
  kInvalidSfn = 6,
  kUlDciError = 7,
  kTxError = 8,
};

}  // namespace splitplane::fapi

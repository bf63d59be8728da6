// TX_DATA.request: the transport blocks of a slot (SCF-222.10.02 3.4.6, table 3-58). The message refers to the blocks:
// each TLV is a piece of memory that somebody else owns and keeps unchanged until the datagrams are sent, or longer
// (HARQ). Its writer makes a scatter list for sendmsg() and copies no octet of a block.
//
//   SFN(16) slot(16) number of PDUs(16) { PDU_Length(32) PDU_index(16) numTLV(32) { tag(16) length(32) value } }
//
//   tag 0: the value is the payload, then zeros up to a multiple of four octets
//   tag 1: the value is a pointer, for a PHY that shares memory; no datagram has one
//   tag 2: the value is an offset (32), counted from the end of the last TLV, to where the payload begins
//          Payloads are in the order of their TLVs and do not overlap: else a small body would name any amount.
//
// The length has 32 bits, as in 222.10.04: the 16 bits of 222.10.02 hold no block above 65535 octets.
#pragma once

#include "phy/fapi/bounded.h"
#include "phy/fapi/group.h"
#include "phy/fapi/message_id.h"
#include "phy/fapi/payload.h"
#include "phy/fapi/reason.h"

namespace splitplane::fapi {

enum class PayloadTag : std::uint16_t { kInline = 0, kPointer = 1, kOffset = 2 };

struct TxDataRequest {
  static constexpr MessageId kId = MessageId::kTxDataRequest;
  static constexpr std::size_t kMaxTlvs = 4;

  struct Pdu {
    std::uint16_t pdu_index = 0;       // the one of its PDSCH PDU
    Bounded<Payload, kMaxTlvs> parts;  // together the transport blocks, one TLV each

    [[nodiscard]] std::size_t bytes() const {
      std::size_t sum = 0;
      for (const Payload& part : parts) sum += part.size();
      return sum;
    }
    friend bool operator==(const Pdu&, const Pdu&) = default;
  };

  std::uint16_t sfn = 0;
  std::uint16_t slot = 0;
  Bounded<Pdu, kMaxPdus> pdus;

  friend bool operator==(const TxDataRequest&, const TxDataRequest&) = default;
};

// PDU_Length: the PDU's fields and payloads without padding.
[[nodiscard]] std::uint32_t pdu_length_of(const TxDataRequest::Pdu& pdu, PayloadTag tag);

// Reads a body that fills the span. PDU_Length is not judged, because implementations disagree about it (fapi.md).
[[nodiscard]] Reason read_tx_data(Octets body, TxDataRequest& message);

// Makes the body of a TX_DATA.request as a list of pieces: control octets that the writer holds, between the payloads.
// It has 48 KiB, so make one and keep it. What pieces() returns is valid until the next write().
class TxDataWriter {
 public:
  // `tag` is kInline or kOffset. With kOffset the message is one piece of control, then the payloads.
  [[nodiscard]] Reason write(const TxDataRequest& message, PayloadTag tag);

  [[nodiscard]] std::span<const Octets> pieces() const { return {pieces_.begin(), pieces_.end()}; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kMaxTlvsOfMessage = kMaxPdus * TxDataRequest::kMaxTlvs;
  static constexpr std::size_t kTlvOctets = 6, kPduOctets = 10, kFixedOctets = 6;
  // An offset or at most three octets of padding for each TLV.
  static constexpr std::size_t kControlOctets =
      kFixedOctets + kMaxPdus * kPduOctets + kMaxTlvsOfMessage * (kTlvOctets + 4);

  void piece(Octets octets);

  std::array<std::uint8_t, kControlOctets> control_{};
  Bounded<Octets, 2 * kMaxTlvsOfMessage + 1> pieces_;
  std::size_t bytes_ = 0;
};

}  // namespace splitplane::fapi

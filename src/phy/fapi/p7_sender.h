// Cuts a P7 message into datagrams. The message comes as pieces (a body, or what TxDataWriter made), and each datagram
// goes as pieces, too: a header that the sender holds, then parts of the message. So no payload is copied. The pieces
// suit sendmsg() and sendmmsg(): all datagrams of a message are there at once.
#pragma once

#include <span>

#include "phy/fapi/nfapi.h"
#include "phy/fapi/tx_data.h"

namespace splitplane::fapi {

// One sender has the sequence numbers of one PHY in one direction.
class P7Sender {
 public:
  using Datagram = std::span<const Octets>;

  // `max_datagram_bytes` is what UDP carries: the MTU less 28 octets for IPv4, 48 for IPv6. At least 64.
  P7Sender(std::uint16_t phy_id, std::size_t max_datagram_bytes, ChecksumMode checksums);

  // The datagrams are valid until the next call, and refer to `pieces`. A message that needs more than 128 is refused
  // and takes no sequence number.
  [[nodiscard]] Reason cut(MessageId id, std::span<const Octets> pieces, std::uint32_t transmit_timestamp);
  [[nodiscard]] std::span<const Datagram> datagrams() const { return {datagrams_.begin(), datagrams_.end()}; }

  // A message whose body has been written into one span.
  [[nodiscard]] Reason cut(MessageId id, Octets body, std::uint32_t transmit_timestamp) {
    return cut(id, std::span<const Octets>(&body, 1), transmit_timestamp);
  }

  [[nodiscard]] std::uint8_t next_sequence() const { return sequence_; }
  // The longest body that is not refused.
  [[nodiscard]] std::size_t max_body_bytes() const { return kMaxSegments * (max_datagram_bytes_ - kP7HeaderBytes); }

 private:
  static constexpr std::size_t kMaxPieces = 2 * kMaxPdus * TxDataRequest::kMaxTlvs + 1;

  std::uint16_t phy_id_;
  std::size_t max_datagram_bytes_;
  ChecksumMode checksums_;
  std::uint8_t sequence_ = 0;
  std::array<std::array<std::uint8_t, kP7HeaderBytes>, kMaxSegments> headers_{};
  // A header for each datagram; a piece that is cut at its end counts twice.
  Bounded<Octets, kMaxPieces + 2 * kMaxSegments> pieces_;
  Bounded<Datagram, kMaxSegments> datagrams_;
};

}  // namespace splitplane::fapi

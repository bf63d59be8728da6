#include "phy/fapi/p7_sender.h"

#include <algorithm>

namespace splitplane::fapi {

P7Sender::P7Sender(std::uint16_t phy_id, std::size_t max_datagram_bytes, ChecksumMode checksums)
    : phy_id_(phy_id), max_datagram_bytes_(std::max<std::size_t>(max_datagram_bytes, 64)), checksums_(checksums) {}

Reason P7Sender::cut(MessageId id, std::span<const Octets> pieces, std::uint32_t transmit_timestamp) {
  datagrams_.clear();
  pieces_.clear();
  std::size_t left = 0;
  for (const Octets piece : pieces) left += piece.size();
  if (left > max_body_bytes()) return Reason::too_long;
  if (pieces.size() > kMaxPieces) return Reason::too_many;
  std::size_t next = 0;  // the piece that the next octet is in
  Octets rest = pieces.empty() ? Octets{} : pieces[0];
  do {
    auto& header_octets = headers_[datagrams_.size()];
    const std::size_t body_bytes = std::min(left, max_datagram_bytes_ - kP7HeaderBytes);
    left -= body_bytes;
    P7Header header{.phy_id = phy_id_,
                    .message_id = static_cast<std::uint16_t>(id),
                    .message_length = static_cast<std::uint32_t>(kP7HeaderBytes + body_bytes),
                    .more = left != 0,
                    .segment = static_cast<std::uint8_t>(datagrams_.size()),
                    .sequence = sequence_,
                    .checksum = 0,
                    .transmit_timestamp = transmit_timestamp};
    write_p7_header(header_octets.data(), header);
    const std::size_t begin = pieces_.size();
    pieces_.add(header_octets);
    for (std::size_t missing = body_bytes; missing != 0;) {
      while (rest.empty()) rest = pieces[++next];
      const Octets part = rest.first(std::min(missing, rest.size()));
      pieces_.add(part);
      rest = rest.subspan(part.size());
      missing -= part.size();
    }
    const Datagram datagram(pieces_.begin() + begin, pieces_.end());
    if (checksums_ != ChecksumMode::kIgnored) {
      P7Checksum checksum(header_octets.data());
      for (const Octets piece : datagram.subspan(1)) checksum.add(piece);
      wire::store_be32(header_octets.data() + kChecksumAt, checksum.value());
    }
    datagrams_.add(datagram);
  } while (left != 0);
  ++sequence_;
  return Reason::ok;
}

}  // namespace splitplane::fapi

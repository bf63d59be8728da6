#include "phy/fapi/nfapi.h"

namespace splitplane::fapi {

Parsed<P5Header> parse_p5(Octets datagram) {
  if (datagram.size() < kP5HeaderBytes) return {.header = {}, .body = {}, .reason = Reason::header_truncated};
  const std::uint8_t* const p = datagram.data();
  if (wire::load_be32(p + 4) != datagram.size() - kP5HeaderBytes) {
    return {.header = {}, .body = {}, .reason = Reason::bad_message_length};
  }
  return {.header = {.phy_id = wire::load_be16(p), .message_id = wire::load_be16(p + 2)},
          .body = datagram.subspan(kP5HeaderBytes),
          .reason = Reason::ok};
}

namespace {

std::uint32_t checksum_of(Octets datagram) {
  P7Checksum checksum(datagram.data());
  checksum.add(datagram.subspan(kP7HeaderBytes));
  return checksum.value();
}

Reason verify(Octets datagram, std::uint32_t checksum, ChecksumMode mode) {
  if (mode == ChecksumMode::kIgnored) return Reason::ok;
  if (checksum == 0) return mode == ChecksumMode::kRequired ? Reason::checksum_missing : Reason::ok;
  return checksum == checksum_of(datagram) ? Reason::ok : Reason::bad_checksum;
}

}  // namespace

Parsed<P7Header> parse_p7(Octets datagram, ChecksumMode mode) {
  if (datagram.size() < kP7HeaderBytes) return {.header = {}, .body = {}, .reason = Reason::header_truncated};
  const std::uint8_t* const p = datagram.data();
  const std::uint32_t segmenting = wire::load_be16(p + 8);
  const P7Header header{.phy_id = wire::load_be16(p),
                        .message_id = wire::load_be16(p + 2),
                        .message_length = wire::load_be32(p + 4),
                        .more = (segmenting & 0x8000) != 0,
                        .segment = static_cast<std::uint8_t>(segmenting >> 8 & 0x7F),
                        .sequence = static_cast<std::uint8_t>(segmenting & 0xFF),
                        .checksum = wire::load_be32(p + kChecksumAt),
                        .transmit_timestamp = wire::load_be32(p + kTimestampAt)};
  if (header.message_length != datagram.size()) {
    return {.header = header, .body = {}, .reason = Reason::bad_message_length};
  }
  return {
      .header = header, .body = datagram.subspan(kP7HeaderBytes), .reason = verify(datagram, header.checksum, mode)};
}

void write_p7_header(std::uint8_t* to, const P7Header& header) {
  wire::store_be16(to, header.phy_id);
  wire::store_be16(to + 2, header.message_id);
  wire::store_be32(to + 4, header.message_length);
  wire::store_be16(to + 8, (header.more ? 0x8000U : 0U) | (header.segment & 0x7FU) << 8 | header.sequence);
  wire::store_be32(to + kChecksumAt, header.checksum);
  wire::store_be32(to + kTimestampAt, header.transmit_timestamp);
}

}  // namespace splitplane::fapi

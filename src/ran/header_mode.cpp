#include "ran/header_mode.h"

namespace splitplane::ran {

UplinkKind classify_uplink(const BearerUplink& b, std::uint64_t header) {
  if (is_secured(b)) return UplinkKind::kProtected;
  if (is_of_session(b)) return UplinkKind::kSessionPdu;
  const std::uint64_t pdcp_dc = 1ULL << (b.pdcp_shift + (b.pdcp_sn_bits == 12 ? 16 : 24) - 1);
  const std::uint64_t wrong = (header & b.constant_mask) ^ b.constant;
  if (wrong >> (b.pdcp_shift + (b.pdcp_sn_bits == 12 ? 16 : 24)) != 0) return UplinkKind::kSegment;  // SI is not 00
  if ((wrong & pdcp_dc) != 0) return UplinkKind::kPdcpControl;
  return UplinkKind::kSdapEndMarker;
}

UplinkKind classify_short_uplink(const BearerUplink& b, const std::uint8_t* rlc, std::size_t bytes) {
  if (is_secured(b)) return UplinkKind::kProtected;
  if (is_of_session(b)) return UplinkKind::kSessionPdu;
  // Octets that are not there count as correct.
  std::uint64_t header = b.constant;
  for (std::size_t i = 0; i < bytes; ++i) {
    const std::size_t shift = 8 * (b.header_bytes - 1 - i);
    header = (header & ~(0xffULL << shift)) | static_cast<std::uint64_t>(rlc[i]) << shift;
  }
  return (header & b.constant_mask) == b.constant ? UplinkKind::kTooShort : classify_uplink(b, header);
}

UplinkPdu read_uplink_of_session(BearerUplink& b, const std::uint8_t* rlc, std::size_t bytes) {
  BearerUplink plain = b;
  plain.constant &= ~kSessionBit;
  const UplinkPdu pdu = read_uplink(plain, rlc, bytes);
  plain.constant |= kSessionBit;
  b = plain;
  return pdu;
}

}  // namespace splitplane::ran

#include "ran/header_mode.h"

namespace splitplane::ran {

UplinkKind classify_uplink(const BearerUplink& b, std::uint64_t header) {
  const std::uint64_t pdcp_dc = 1ULL << (b.pdcp_shift + (b.pdcp_sn_bits == 12 ? 16 : 24) - 1);
  const std::uint64_t wrong = (header & b.constant_mask) ^ b.constant;
  if (wrong >> (b.pdcp_shift + (b.pdcp_sn_bits == 12 ? 16 : 24)) != 0) return UplinkKind::kSegment;  // SI is not 00
  if ((wrong & pdcp_dc) != 0) return UplinkKind::kPdcpControl;
  return UplinkKind::kSdapEndMarker;
}

}  // namespace splitplane::ran

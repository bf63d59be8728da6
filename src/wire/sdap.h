// SDAP header (TS 37.324 6.2.2): one clear octet in front of the SDU, if the DRB is configured with it.
//
//   DL data:    RDI RQI QFI(6)
//   UL data:    D/C=1 R QFI(6)
//   UL control: D/C=0 R QFI(6), end marker, one octet in total
#pragma once

#include "base/types.h"
#include "wire/bytes.h"
#include "wire/psc.h"
#include "wire/result.h"

namespace splitplane::wire::sdap {

inline constexpr std::size_t kHeaderBytes = 1;

struct DownlinkHeader {
  bool rdi = false;  // the UE shall store a reflective QFI-to-DRB rule
  bool rqi = false;  // the UE shall tell NAS
  Qfi qfi{};
};

struct UplinkHeader {
  bool is_data = true;  // false: end marker
  Qfi qfi{};
};

[[nodiscard]] SPLITPLANE_HD constexpr Result<DownlinkHeader> parse_downlink(Octets in) {
  if (in.empty()) return refuse<DownlinkHeader>(Reason::sdap_truncated);
  return {DownlinkHeader{(in[0] & 0x80) != 0, (in[0] & 0x40) != 0, Qfi{static_cast<std::uint8_t>(in[0] & 0x3F)}}};
}

[[nodiscard]] SPLITPLANE_HD constexpr Result<UplinkHeader> parse_uplink(Octets in) {
  if (in.empty()) return refuse<UplinkHeader>(Reason::sdap_truncated);
  const UplinkHeader h{(in[0] & 0x80) != 0, Qfi{static_cast<std::uint8_t>(in[0] & 0x3F)}};
  if (!h.is_data && in.size() != kHeaderBytes) return refuse<UplinkHeader>(Reason::sdap_bad_control);
  return {h};
}

// The header octet. Only the six low bits of the QFI are used.
[[nodiscard]] SPLITPLANE_HD constexpr std::uint8_t encode(const DownlinkHeader& h) {
  return static_cast<std::uint8_t>((h.rdi ? 0x80 : 0) | (h.rqi ? 0x40 : 0) | (h.qfi.value & 0x3F));
}
[[nodiscard]] SPLITPLANE_HD constexpr std::uint8_t encode(const UplinkHeader& h) {
  return static_cast<std::uint8_t>((h.is_data ? 0x80 : 0) | (h.qfi.value & 0x3F));
}

// Writes 1 octet. Returns 0 if it does not fit or the QFI is beyond 63.
template <class Header>
SPLITPLANE_HD constexpr std::size_t write(MutableOctets out, const Header& h) {
  if (out.empty() || h.qfi.value > psc::kMaxQfi) return 0;
  out[0] = encode(h);
  return kHeaderBytes;
}

}  // namespace splitplane::wire::sdap

// RLC data PDUs (TS 38.322 6.2.2): TM (no header), UM with 6- and 12-bit SN, AM with 12- and 18-bit SN.
//
//   SI: 00 complete SDU, 01 first, 10 last, 11 middle segment; SO(16) follows the SN in last and middle segments
//   UMD complete: SI=00 R(6)
//   UMD SN 6:     SI(2) SN(6)                    | [SO]
//   UMD SN 12:    SI(2) R(2) SN[11:8] | SN[7:0]  | [SO]
//   AMD SN 12:    D/C=1 P SI(2) SN[11:8] | SN[7:0] | [SO]
//   AMD SN 18:    D/C=1 P SI(2) R(2) SN[17:16] | SN[15:8] | SN[7:0] | [SO]
//   The data field has at least one octet.
#pragma once

#include "base/types.h"
#include "wire/bytes.h"
#include "wire/result.h"

namespace splitplane::wire::rlc {

enum class Segment : std::uint8_t { kComplete = 0, kFirst = 1, kLast = 2, kMiddle = 3 };  // the SI field

inline constexpr std::size_t kMaxHeaderBytes = 5;
inline constexpr std::size_t kSegmentOffsetBytes = 2;

[[nodiscard]] SPLITPLANE_HD constexpr bool has_segment_offset(Segment si) {
  return si == Segment::kLast || si == Segment::kMiddle;
}

// Header octets for a segment kind; 0 for an SN length that the mode does not have.
[[nodiscard]] SPLITPLANE_HD constexpr std::uint8_t um_header_bytes(unsigned sn_bits, Segment si) {
  if (sn_bits != 6 && sn_bits != 12) return 0;
  if (si == Segment::kComplete) return 1;
  return static_cast<std::uint8_t>((sn_bits == 6 ? 1 : 2) + (has_segment_offset(si) ? kSegmentOffsetBytes : 0));
}
[[nodiscard]] SPLITPLANE_HD constexpr std::uint8_t am_header_bytes(unsigned sn_bits, Segment si) {
  if (sn_bits != 12 && sn_bits != 18) return 0;
  return static_cast<std::uint8_t>((sn_bits == 12 ? 2 : 3) + (has_segment_offset(si) ? kSegmentOffsetBytes : 0));
}

// The SI of octets [offset, offset + bytes) of an SDU of `sdu_bytes`.
[[nodiscard]] SPLITPLANE_HD constexpr Segment segment_of(std::size_t offset, std::size_t bytes, std::size_t sdu_bytes) {
  const bool to_end = offset + bytes == sdu_bytes;
  if (offset == 0) return to_end ? Segment::kComplete : Segment::kFirst;
  return to_end ? Segment::kLast : Segment::kMiddle;
}

struct UmHeader {
  Segment si = Segment::kComplete;
  std::uint8_t header_bytes = 0;
  std::uint16_t so = 0;  // 0 in complete SDUs and first segments
  std::uint32_t sn = 0;  // complete SDUs have none
};

struct AmHeader {
  bool poll = false;
  Segment si = Segment::kComplete;
  std::uint8_t header_bytes = 0;
  std::uint16_t so = 0;
  std::uint32_t sn = 0;
};

// TM data PDU: everything is data.
[[nodiscard]] SPLITPLANE_HD constexpr Result<Octets> parse_tm(Octets in) {
  if (in.empty()) return refuse<Octets>(Reason::rlc_empty_data);
  return {in};
}

[[nodiscard]] SPLITPLANE_HD constexpr Result<UmHeader> parse_um(Octets in, unsigned sn_bits) {
  if (in.empty()) return refuse<UmHeader>(Reason::rlc_truncated);
  const std::uint8_t* p = in.data();
  UmHeader h;
  h.si = static_cast<Segment>(p[0] >> 6);
  h.header_bytes = um_header_bytes(sn_bits, h.si);
  if (h.header_bytes == 0) return refuse<UmHeader>(Reason::rlc_bad_sn_length);
  if (in.size() < h.header_bytes) return refuse<UmHeader>(Reason::rlc_truncated);
  if (in.size() == h.header_bytes) return refuse<UmHeader>(Reason::rlc_empty_data);
  if (h.si == Segment::kComplete) return {h};
  h.sn = sn_bits == 6 ? p[0] & 0x3FU : load_be16(p) & 0xFFFU;
  if (has_segment_offset(h.si)) {
    h.so = load_be16(p + h.header_bytes - kSegmentOffsetBytes);
    if (h.so == 0) return refuse<UmHeader>(Reason::rlc_bad_segment_offset);
  }
  return {h};
}

// D/C of an AM PDU's first octet.
[[nodiscard]] SPLITPLANE_HD constexpr bool is_am_data(std::uint8_t first_octet) {
  return (first_octet & 0x80) != 0;
}

[[nodiscard]] SPLITPLANE_HD constexpr Result<AmHeader> parse_am(Octets in, unsigned sn_bits) {
  if (in.empty()) return refuse<AmHeader>(Reason::rlc_truncated);
  const std::uint8_t* p = in.data();
  if (!is_am_data(p[0])) return refuse<AmHeader>(Reason::rlc_not_data);
  AmHeader h;
  h.poll = (p[0] & 0x40) != 0;
  h.si = static_cast<Segment>((p[0] >> 4) & 3);
  h.header_bytes = am_header_bytes(sn_bits, h.si);
  if (h.header_bytes == 0) return refuse<AmHeader>(Reason::rlc_bad_sn_length);
  if (in.size() < h.header_bytes) return refuse<AmHeader>(Reason::rlc_truncated);
  if (in.size() == h.header_bytes) return refuse<AmHeader>(Reason::rlc_empty_data);
  h.sn = sn_bits == 12 ? load_be16(p) & 0xFFFU : load_be24(p) & 0x3FFFFU;
  if (has_segment_offset(h.si)) {
    h.so = load_be16(p + h.header_bytes - kSegmentOffsetBytes);
    if (h.so == 0) return refuse<AmHeader>(Reason::rlc_bad_segment_offset);
  }
  return {h};
}

// Writes a UMD header (header_bytes of `h` is not read). Returns 0 if it does not fit, the SN is beyond its length, or
// SO and SI contradict each other.
SPLITPLANE_HD constexpr std::size_t write_um(MutableOctets out, unsigned sn_bits, const UmHeader& h) {
  const std::uint8_t bytes = um_header_bytes(sn_bits, h.si);
  if (bytes == 0 || out.size() < bytes || has_segment_offset(h.si) != (h.so != 0)) return 0;
  std::uint8_t* p = out.data();
  if (h.si == Segment::kComplete) {
    p[0] = 0;
    return bytes;
  }
  if ((h.sn >> sn_bits) != 0) return 0;
  if (sn_bits == 6) {
    p[0] = static_cast<std::uint8_t>((static_cast<std::uint32_t>(h.si) << 6) | h.sn);
  } else {
    store_be16(p, (static_cast<std::uint32_t>(h.si) << 14) | h.sn);
  }
  if (h.so != 0) store_be16(p + bytes - kSegmentOffsetBytes, h.so);
  return bytes;
}

// Writes an AMD header. Returns 0 in the same cases.
SPLITPLANE_HD constexpr std::size_t write_am(MutableOctets out, unsigned sn_bits, const AmHeader& h) {
  const std::uint8_t bytes = am_header_bytes(sn_bits, h.si);
  if (bytes == 0 || out.size() < bytes || has_segment_offset(h.si) != (h.so != 0) || (h.sn >> sn_bits) != 0) return 0;
  std::uint8_t* p = out.data();
  const std::uint32_t top = 0x8U | (h.poll ? 0x4U : 0U) | static_cast<std::uint32_t>(h.si);
  if (sn_bits == 12) {
    store_be16(p, (top << 12) | h.sn);
  } else {
    store_be24(p, (top << 20) | h.sn);
  }
  if (h.so != 0) store_be16(p + bytes - kSegmentOffsetBytes, h.so);
  return bytes;
}

}  // namespace splitplane::wire::rlc

// Contents of MAC control elements (TS 38.321 6.1.3), after the subheader that mac.h reads and writes. mac_bsr.h turns
// buffer size indices into octets.
//
//   timing advance (DL 61):  TAG-ID(2) TA(6)           | C-RNTI (UL 58): RNTI(16)
//   single entry PHR (UL 57): R R PH(6) | R R PCMAX(6)  | short (truncated) BSR (UL 61, 59): LCG(3) size(5)
//   long BSR (UL 62): LCG7..LCG0 present | one size octet per set bit, ascending LCG
//   long truncated BSR (UL 60): LCGs with data | sizes of some of them, in the UE's priority order
//   SCell activation (DL 58): C7..C1 R                  | contention resolution identity (DL 62): 6 octets
#pragma once

#include <array>

#include "wire/bytes.h"
#include "wire/result.h"

namespace splitplane::wire::mac {

inline constexpr unsigned kLcgs = 8;

struct TimingAdvance {
  std::uint8_t tag_id = 0;   // 0..3
  std::uint8_t command = 0;  // 0..63
};
struct Crnti {
  std::uint16_t rnti = 0;
};
struct SinglePhr {
  std::uint8_t power_headroom = 0;  // 0..63
  std::uint8_t pcmax = 0;           // 0..63
};
struct ShortBsr {
  std::uint8_t lcg = 0;   // 0..7
  std::uint8_t size = 0;  // 5-bit index
};
struct LongBsr {
  std::uint8_t present = 0;                // bit i: LCG i
  std::array<std::uint8_t, kLcgs> size{};  // 8-bit index of each present LCG
};
struct LongTruncatedBsr {
  std::uint8_t with_data = 0;  // bit i: LCG i has data
  Octets sizes;                // at most as many as LCGs with data, in the UE's priority order
};
struct ScellActivation {
  std::uint8_t active = 0;  // bit i: SCell i, i = 1..7
};
using ContentionResolutionId = std::array<std::uint8_t, 6>;

[[nodiscard]] SPLITPLANE_HD constexpr unsigned popcount8(std::uint8_t v) {
  unsigned n = 0;
  for (; v != 0; v = static_cast<std::uint8_t>(v & (v - 1))) ++n;
  return n;
}

[[nodiscard]] SPLITPLANE_HD constexpr Result<TimingAdvance> parse_timing_advance(Octets ce) {
  if (ce.size() != 1) return refuse<TimingAdvance>(Reason::mac_ce_bad_length);
  return {TimingAdvance{static_cast<std::uint8_t>(ce[0] >> 6), static_cast<std::uint8_t>(ce[0] & 0x3F)}};
}
SPLITPLANE_HD constexpr std::size_t write(MutableOctets out, const TimingAdvance& ce) {
  if (out.empty() || ce.tag_id > 3 || ce.command > 63) return 0;
  out[0] = static_cast<std::uint8_t>((ce.tag_id << 6) | ce.command);
  return 1;
}

[[nodiscard]] SPLITPLANE_HD constexpr Result<Crnti> parse_crnti(Octets ce) {
  if (ce.size() != 2) return refuse<Crnti>(Reason::mac_ce_bad_length);
  return {Crnti{load_be16(ce.data())}};
}
SPLITPLANE_HD constexpr std::size_t write(MutableOctets out, const Crnti& ce) {
  if (out.size() < 2) return 0;
  store_be16(out.data(), ce.rnti);
  return 2;
}

[[nodiscard]] SPLITPLANE_HD constexpr Result<SinglePhr> parse_single_phr(Octets ce) {
  if (ce.size() != 2) return refuse<SinglePhr>(Reason::mac_ce_bad_length);
  return {SinglePhr{static_cast<std::uint8_t>(ce[0] & 0x3F), static_cast<std::uint8_t>(ce[1] & 0x3F)}};
}
SPLITPLANE_HD constexpr std::size_t write(MutableOctets out, const SinglePhr& ce) {
  if (out.size() < 2 || ce.power_headroom > 63 || ce.pcmax > 63) return 0;
  out[0] = ce.power_headroom;
  out[1] = ce.pcmax;
  return 2;
}

[[nodiscard]] SPLITPLANE_HD constexpr Result<ShortBsr> parse_short_bsr(Octets ce) {
  if (ce.size() != 1) return refuse<ShortBsr>(Reason::mac_ce_bad_length);
  return {ShortBsr{static_cast<std::uint8_t>(ce[0] >> 5), static_cast<std::uint8_t>(ce[0] & 0x1F)}};
}
SPLITPLANE_HD constexpr std::size_t write(MutableOctets out, const ShortBsr& ce) {
  if (out.empty() || ce.lcg >= kLcgs || ce.size > 31) return 0;
  out[0] = static_cast<std::uint8_t>((ce.lcg << 5) | ce.size);
  return 1;
}

[[nodiscard]] SPLITPLANE_HD constexpr Result<LongBsr> parse_long_bsr(Octets ce) {
  if (ce.empty() || ce.size() != 1 + popcount8(ce[0])) return refuse<LongBsr>(Reason::mac_ce_bad_length);
  LongBsr b;
  b.present = ce[0];
  std::size_t at = 1;
  for (unsigned lcg = 0; lcg < kLcgs; ++lcg) {
    if ((b.present >> lcg & 1) != 0) b.size[lcg] = ce[at++];
  }
  return {b};
}
SPLITPLANE_HD constexpr std::size_t write(MutableOctets out, const LongBsr& ce) {
  const std::size_t bytes = 1 + popcount8(ce.present);
  if (out.size() < bytes) return 0;
  out[0] = ce.present;
  std::size_t at = 1;
  for (unsigned lcg = 0; lcg < kLcgs; ++lcg) {
    if ((ce.present >> lcg & 1) != 0) out[at++] = ce.size[lcg];
  }
  return bytes;
}

[[nodiscard]] SPLITPLANE_HD constexpr Result<LongTruncatedBsr> parse_long_truncated_bsr(Octets ce) {
  if (ce.empty() || ce.size() > 1 + popcount8(ce[0])) return refuse<LongTruncatedBsr>(Reason::mac_ce_bad_length);
  return {LongTruncatedBsr{ce[0], ce.subspan(1)}};
}
SPLITPLANE_HD constexpr std::size_t write(MutableOctets out, const LongTruncatedBsr& ce) {
  const std::size_t bytes = 1 + ce.sizes.size();
  if (ce.sizes.size() > popcount8(ce.with_data) || out.size() < bytes) return 0;
  out[0] = ce.with_data;
  copy_octets(out.data() + 1, ce.sizes.data(), ce.sizes.size());
  return bytes;
}

[[nodiscard]] SPLITPLANE_HD constexpr Result<ScellActivation> parse_scell_activation(Octets ce) {
  if (ce.size() != 1) return refuse<ScellActivation>(Reason::mac_ce_bad_length);
  return {ScellActivation{static_cast<std::uint8_t>(ce[0] & 0xFE)}};
}
SPLITPLANE_HD constexpr std::size_t write(MutableOctets out, const ScellActivation& ce) {
  if (out.empty() || (ce.active & 1) != 0) return 0;
  out[0] = ce.active;
  return 1;
}

[[nodiscard]] SPLITPLANE_HD constexpr Result<ContentionResolutionId> parse_contention_resolution(Octets ce) {
  if (ce.size() != 6) return refuse<ContentionResolutionId>(Reason::mac_ce_bad_length);
  ContentionResolutionId id{};
  copy_octets(id.data(), ce.data(), 6);
  return {id};
}
SPLITPLANE_HD constexpr std::size_t write(MutableOctets out, const ContentionResolutionId& id) {
  if (out.size() < 6) return 0;
  copy_octets(out.data(), id.data(), 6);
  return 6;
}

}  // namespace splitplane::wire::mac

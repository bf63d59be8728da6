// PDU Session Container: the content of GTP-U extension header 0x85 (TS 38.415 5.5.2), which carries the QFI on N3.
//
//   DL o0 type(4)=0 QMP SNP MSNP spare           | o1 PPP RQI QFI(6)
//      then, each if flagged: PPI(3) spare(5) | DL sending time stamp(8) | DL QFI SN(3) | padding
//   UL o0 type(4)=1 QMP DL-delay UL-delay SNP    | o1 N3/N9-delay new-IE QFI(6)
//      then: DL time repeated(8) DL received(8) UL sending(8) | DL delay(4) | UL delay(4) | UL QFI SN(3) |
//            N3/N9 delay(4) | new IE flags(1) [bit 0: spare(7) D1-UL-PDCP-delay(1)] | padding
//   Content is 4n-2 octets, so that it fills its extension header (TS 29.281 5.2.1).
#pragma once

#include "base/types.h"
#include "wire/bytes.h"
#include "wire/result.h"

namespace splitplane::wire::psc {

inline constexpr std::uint8_t kMaxQfi = 63;
inline constexpr std::size_t kShortestBytes = 2;

enum class PduType : std::uint8_t { kDownlink = 0, kUplink = 1 };

// What the packet path needs, in either direction.
struct Flow {
  PduType type = PduType::kDownlink;
  Qfi qfi{};
  bool rqi = false;      // DL only: reflective QoS indication
  bool has_ppi = false;  // DL only: paging policy presence
  std::uint8_t ppi = 0;  // 0..7
};

struct Content {
  Flow flow;
  bool has_qos_monitoring = false;  // QMP: dl_send_time; UL also the two others
  std::uint64_t dl_send_time = 0;   // NTP-like 64-bit time stamps; UL repeats the one received
  std::uint64_t dl_receive_time = 0;
  std::uint64_t ul_send_time = 0;
  bool has_sequence_number = false;      // SNP
  std::uint32_t sequence_number = 0;     // QFI sequence number, 24 bits
  bool has_mbs_sequence_number = false;  // DL MSNP (Rel-17): the last field, which we do not read; write() refuses it
  bool has_dl_delay = false;             // this and the following fields: UL only
  std::uint32_t dl_delay = 0;
  bool has_ul_delay = false;
  std::uint32_t ul_delay = 0;
  bool has_n3_n9_delay = false;
  std::uint32_t n3_n9_delay = 0;
  bool has_new_ie_flags = false;
  std::uint8_t new_ie_flags = 0;  // bit 0: d1_ul_pdcp_delay follows; fields of other bits are not read
  bool d1_ul_pdcp_delay = false;
};

namespace detail {

// Octets that the flags of o0 and o1 announce, without padding and without the fields of the new IE flags.
[[nodiscard]] SPLITPLANE_HD constexpr std::size_t announced_bytes(std::uint8_t o0, std::uint8_t o1) {
  std::size_t n = kShortestBytes;
  if ((o0 >> 4) == 0) {
    n += ((o1 & 0x80) != 0 ? 1U : 0U) + ((o0 & 0x08) != 0 ? 8U : 0U) + ((o0 & 0x04) != 0 ? 3U : 0U);
  } else {
    n += ((o0 & 0x08) != 0 ? 24U : 0U) + ((o0 & 0x04) != 0 ? 4U : 0U) + ((o0 & 0x02) != 0 ? 4U : 0U);
    n += ((o0 & 0x01) != 0 ? 3U : 0U) + ((o1 & 0x80) != 0 ? 4U : 0U) + ((o1 & 0x40) != 0 ? 1U : 0U);
  }
  return n;
}

}  // namespace detail

namespace detail {

// Fills `f` in place. A struct of octets that is returned and then copied as a word would stall on store forwarding.
[[nodiscard]] SPLITPLANE_HD constexpr Reason read_flow(Octets content, Flow& f) {
  if (content.size() < kShortestBytes) return Reason::psc_truncated;
  const std::uint8_t o0 = content[0];
  const std::uint8_t o1 = content[1];
  if ((o0 >> 4) > 1) return Reason::psc_bad_type;
  const bool downlink = (o0 >> 4) == 0;
  // The most frequent form has no optional field. An uplink QFI octet may have N3/N9-delay and new-IE bits.
  if (((o0 & 0x0F) | (o1 & (downlink ? 0x80 : 0xC0))) != 0 && content.size() < announced_bytes(o0, o1)) {
    return Reason::psc_truncated;
  }
  f.type = downlink ? PduType::kDownlink : PduType::kUplink;
  f.qfi = Qfi{static_cast<std::uint8_t>(o1 & 0x3F)};
  f.rqi = downlink && (o1 & 0x40) != 0;
  f.has_ppi = downlink && (o1 & 0x80) != 0;
  f.ppi = f.has_ppi ? static_cast<std::uint8_t>(content[2] >> 5) : std::uint8_t{0};
  return Reason::ok;
}

}  // namespace detail

// The packet path's view: type, QFI, RQI and PPI. The announced fields must be there, but are not read.
[[nodiscard]] SPLITPLANE_HD constexpr Result<Flow> parse_flow(Octets content) {
  Result<Flow> r;
  r.reason = detail::read_flow(content, r.value);
  return r;
}

// Parses every field of TS 38.415 that formats up to Rel-16 define.
[[nodiscard]] SPLITPLANE_HD constexpr Result<Content> parse(Octets content) {
  const Result<Flow> flow = parse_flow(content);
  if (!flow) return refuse<Content>(flow.reason);
  Content c;
  c.flow = flow.value;
  const std::uint8_t* p = content.data();
  const std::uint8_t o0 = p[0];
  const std::uint8_t o1 = p[1];
  const bool uplink = c.flow.type == PduType::kUplink;
  std::size_t at = kShortestBytes + (c.flow.has_ppi ? 1U : 0U);
  c.has_qos_monitoring = (o0 & 0x08) != 0;
  c.has_sequence_number = (o0 & (uplink ? 0x01 : 0x04)) != 0;
  c.has_mbs_sequence_number = !uplink && (o0 & 0x02) != 0;
  c.has_dl_delay = uplink && (o0 & 0x04) != 0;
  c.has_ul_delay = uplink && (o0 & 0x02) != 0;
  c.has_n3_n9_delay = uplink && (o1 & 0x80) != 0;
  c.has_new_ie_flags = uplink && (o1 & 0x40) != 0;
  if (c.has_qos_monitoring) {
    c.dl_send_time = load_be64(p + at);
    at += 8;
    if (uplink) {
      c.dl_receive_time = load_be64(p + at);
      c.ul_send_time = load_be64(p + at + 8);
      at += 16;
    }
  }
  if (c.has_dl_delay) {
    c.dl_delay = load_be32(p + at);
    at += 4;
  }
  if (c.has_ul_delay) {
    c.ul_delay = load_be32(p + at);
    at += 4;
  }
  if (c.has_sequence_number) {
    c.sequence_number = load_be24(p + at);
    at += 3;
  }
  if (c.has_n3_n9_delay) {
    c.n3_n9_delay = load_be32(p + at);
    at += 4;
  }
  if (c.has_new_ie_flags) {
    c.new_ie_flags = p[at++];
    if ((c.new_ie_flags & 0x01) != 0) {
      if (at == content.size()) return refuse<Content>(Reason::psc_truncated);
      c.d1_ul_pdcp_delay = (p[at] & 0x01) != 0;
    }
  }
  return {c};
}

// Writes the content padded with zeros to 4n-2 octets, as an extension header's content. Returns 0 if it does not fit,
// or if a field is out of range or belongs to the other direction.
SPLITPLANE_HD constexpr std::size_t write(MutableOctets out, const Content& c) {
  const bool uplink = c.flow.type == PduType::kUplink;
  if (c.flow.qfi.value > kMaxQfi || c.flow.ppi > 7 || c.sequence_number > 0xFFFFFF) return 0;
  if (c.has_mbs_sequence_number || (c.new_ie_flags & 0xFE) != 0) return 0;
  if (uplink ? (c.flow.rqi || c.flow.has_ppi)
             : (c.has_dl_delay || c.has_ul_delay || c.has_n3_n9_delay || c.has_new_ie_flags)) {
    return 0;
  }
  std::uint8_t o0 = static_cast<std::uint8_t>((uplink ? 0x10 : 0x00) | (c.has_qos_monitoring ? 0x08 : 0));
  std::uint8_t o1 = c.flow.qfi.value;
  if (uplink) {
    o0 = static_cast<std::uint8_t>(o0 | (c.has_dl_delay ? 0x04 : 0) | (c.has_ul_delay ? 0x02 : 0) |
                                   (c.has_sequence_number ? 0x01 : 0));
    o1 = static_cast<std::uint8_t>(o1 | (c.has_n3_n9_delay ? 0x80 : 0) | (c.has_new_ie_flags ? 0x40 : 0));
  } else {
    o0 = static_cast<std::uint8_t>(o0 | (c.has_sequence_number ? 0x04 : 0));
    o1 = static_cast<std::uint8_t>(o1 | (c.flow.has_ppi ? 0x80 : 0) | (c.flow.rqi ? 0x40 : 0));
  }
  const bool d1_octet = c.has_new_ie_flags && c.new_ie_flags != 0;
  const std::size_t used = detail::announced_bytes(o0, o1) + (d1_octet ? 1 : 0);
  const std::size_t total = (used + 2 + 3) / 4 * 4 - 2;
  if (out.size() < total) return 0;
  std::uint8_t* p = out.data();
  fill_zero(p, total);
  p[0] = o0;
  p[1] = o1;
  p += 2;
  if (c.flow.has_ppi) *p++ = static_cast<std::uint8_t>(c.flow.ppi << 5);
  if (c.has_qos_monitoring) {
    store_be64(p, c.dl_send_time);
    p += 8;
    if (uplink) {
      store_be64(p, c.dl_receive_time);
      store_be64(p + 8, c.ul_send_time);
      p += 16;
    }
  }
  if (c.has_dl_delay) {
    store_be32(p, c.dl_delay);
    p += 4;
  }
  if (c.has_ul_delay) {
    store_be32(p, c.ul_delay);
    p += 4;
  }
  if (c.has_sequence_number) {
    store_be24(p, c.sequence_number);
    p += 3;
  }
  if (c.has_n3_n9_delay) {
    store_be32(p, c.n3_n9_delay);
    p += 4;
  }
  if (c.has_new_ie_flags) *p++ = c.new_ie_flags;
  if (d1_octet) *p = c.d1_ul_pdcp_delay ? 1 : 0;
  return total;
}

}  // namespace splitplane::wire::psc

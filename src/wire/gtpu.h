// GTP-U header and extension-header chain (TS 29.281 5.1, 5.2): how G-PDUs travel on N3, UDP port 2152.
//
//   o0 version(3)=1 PT(1)=1 spare(1) E S PN | o1 message type | o2-3 length: octets after o7 | o4-7 TEID
//   if E, S or PN, all of: o8-9 sequence number | o10 N-PDU number | o11 type of the first extension header
//   extension header: length in 4-octet units(1) content(4n-2) type of the next one(1); type 0 ends the chain
#pragma once

#include <array>

#include "base/types.h"
#include "wire/bytes.h"
#include "wire/psc.h"
#include "wire/result.h"

namespace splitplane::wire::gtpu {

inline constexpr std::uint16_t kPort = 2152;
inline constexpr std::size_t kHeaderBytes = 8;
inline constexpr std::size_t kHeaderWithOptionsBytes = 12;
inline constexpr std::size_t kHeaderWithPscBytes = 16;  // the most frequent N3 form: one extension header of 4 octets
inline constexpr unsigned kMaxExtensions = 8;           // bounds the walk; real chains have one or two
inline constexpr std::size_t kMaxExtensionContentBytes = 255 * 4 - 2;

inline constexpr std::uint8_t kEchoRequest = 1;
inline constexpr std::uint8_t kEchoResponse = 2;
inline constexpr std::uint8_t kErrorIndication = 26;
inline constexpr std::uint8_t kSupportedExtensionHeaders = 31;
inline constexpr std::uint8_t kEndMarker = 254;
inline constexpr std::uint8_t kGpdu = 255;

inline constexpr std::uint8_t kFlagsPlain = 0x30;
inline constexpr std::uint8_t kFlagE = 0x04;
inline constexpr std::uint8_t kFlagS = 0x02;
inline constexpr std::uint8_t kFlagPn = 0x01;

// Extension header types, TS 29.281 5.2.1 figure 5.2.1-3.
inline constexpr std::uint8_t kExtensionLongPdcpNumberOld = 0x03;
inline constexpr std::uint8_t kExtensionServiceClass = 0x20;
inline constexpr std::uint8_t kExtensionUdpPort = 0x40;
inline constexpr std::uint8_t kExtensionRanContainer = 0x81;
inline constexpr std::uint8_t kExtensionLongPdcpNumber = 0x82;
inline constexpr std::uint8_t kExtensionXwRanContainer = 0x83;
inline constexpr std::uint8_t kExtensionNrRanContainer = 0x84;
inline constexpr std::uint8_t kExtensionPsc = 0x85;
inline constexpr std::uint8_t kExtensionPdcpNumber = 0xC0;

// The list of a Supported Extension Headers Notification (TS 29.281 7.2.3): every type that take_extension() knows.
inline constexpr std::array<std::uint8_t, 8> kSupportedExtensionTypes{
    kExtensionServiceClass,   kExtensionUdpPort,        kExtensionRanContainer, kExtensionLongPdcpNumber,
    kExtensionXwRanContainer, kExtensionNrRanContainer, kExtensionPsc,          kExtensionPdcpNumber};

// Bit 7 of a type requires the end point to understand it. If the type is unknown, the message is dropped and answered
// with message 31 (TS 29.281 5.2.1).
[[nodiscard]] SPLITPLANE_HD constexpr bool needs_comprehension(std::uint8_t type) {
  return (type & 0x80) != 0;
}

struct Header {
  std::uint8_t message_type = 0;
  std::uint8_t flags = 0;
  std::uint16_t length = 0;
  Teid teid{};
  std::uint16_t sequence_number = 0;  // only if has_sequence_number()
  std::uint8_t n_pdu_number = 0;      // only if has_n_pdu_number()
  std::uint8_t extension_count = 0;
  bool has_psc = false;
  bool has_udp_port = false;
  bool has_pdcp_number = false;
  std::uint8_t unknown_extension = 0;    // type of the first unknown extension header, 0 if none
  psc::Flow psc;                         // only if has_psc
  std::uint16_t psc_bytes = 0;           // content of the PSC extension header, for psc::parse
  std::uint16_t udp_port = 0;            // extension 0x40, in Error Indications
  std::uint16_t nr_container_bytes = 0;  // content of extension 0x84 (TS 38.425), 0 if none
  std::uint32_t psc_offset = 0;
  std::uint32_t nr_container_offset = 0;
  std::uint32_t pdcp_number = 0;     // extension 0xC0 (15 bits) or 0x82 (18 bits), in forwarded data
  std::uint32_t payload_offset = 0;  // counted from o0
  std::uint32_t payload_bytes = 0;   // ends at 8 + length: octets behind that are not payload

  [[nodiscard]] SPLITPLANE_HD constexpr bool has_sequence_number() const { return (flags & kFlagS) != 0; }
  [[nodiscard]] SPLITPLANE_HD constexpr bool has_n_pdu_number() const { return (flags & kFlagPn) != 0; }
};

namespace detail {

// Records one extension header (content at `offset`, `bytes` long) in `h`. If a type comes several times, the first one
// counts.
[[nodiscard]] SPLITPLANE_HD constexpr Reason take_extension(Header& h, std::uint8_t type, Octets in, std::size_t offset,
                                                            std::size_t bytes) {
  const Octets content = in.subspan(offset, bytes);
  switch (type) {
    case kExtensionPsc: {
      if (h.has_psc) return Reason::ok;
      h.has_psc = true;
      h.psc_offset = static_cast<std::uint32_t>(offset);
      h.psc_bytes = static_cast<std::uint16_t>(bytes);
      return psc::detail::read_flow(content, h.psc);
    }
    case kExtensionUdpPort:
      if (!h.has_udp_port) h.udp_port = load_be16(content.data());
      h.has_udp_port = true;
      return Reason::ok;
    case kExtensionPdcpNumber:
      if (!h.has_pdcp_number) h.pdcp_number = load_be16(content.data()) & 0x7FFFU;
      h.has_pdcp_number = true;
      return Reason::ok;
    case kExtensionLongPdcpNumber:
    case kExtensionLongPdcpNumberOld:
      if (bytes < 6) return Reason::gtpu_extension_bad_length;
      if (!h.has_pdcp_number) h.pdcp_number = load_be24(content.data()) & 0x3FFFFU;
      h.has_pdcp_number = true;
      return Reason::ok;
    case kExtensionNrRanContainer:
      if (h.nr_container_bytes != 0) return Reason::ok;
      h.nr_container_offset = static_cast<std::uint32_t>(offset);
      h.nr_container_bytes = static_cast<std::uint16_t>(bytes);
      return Reason::ok;
    case kExtensionServiceClass:
    case kExtensionRanContainer:
    case kExtensionXwRanContainer:
      return Reason::ok;
    default:
      if (h.unknown_extension == 0 || needs_comprehension(type)) h.unknown_extension = type;
      return needs_comprehension(type) ? Reason::gtpu_extension_unknown_required : Reason::ok;
  }
}

[[nodiscard]] SPLITPLANE_HD constexpr Reason read_header(Octets in, Header& h) {
  if (in.size() < kHeaderBytes) return Reason::gtpu_truncated;
  const std::uint8_t* p = in.data();
  if ((p[0] >> 5) != 1) return Reason::gtpu_bad_version;
  if ((p[0] & 0x10) == 0) return Reason::gtpu_not_gtp;
  h.flags = p[0];
  h.message_type = p[1];
  h.length = load_be16(p + 2);
  h.teid = Teid{load_be32(p + 4)};
  const std::size_t end = kHeaderBytes + h.length;
  if (end > in.size()) return Reason::gtpu_bad_length;
  std::size_t at = kHeaderBytes;
  if ((h.flags & (kFlagE | kFlagS | kFlagPn)) != 0) {
    if (end < kHeaderWithOptionsBytes) return Reason::gtpu_bad_length;
    if (h.has_sequence_number()) h.sequence_number = load_be16(p + 8);
    if (h.has_n_pdu_number()) h.n_pdu_number = p[10];
    at = kHeaderWithOptionsBytes;
    std::uint8_t next = (h.flags & kFlagE) != 0 ? p[11] : std::uint8_t{0};
    while (next != 0) {
      if (h.extension_count == kMaxExtensions) return Reason::gtpu_extension_chain_too_long;
      if (at == end) return Reason::gtpu_extension_bad_length;
      const std::size_t octets = std::size_t{p[at]} * 4;
      if (octets == 0 || octets > end - at) return Reason::gtpu_extension_bad_length;
      ++h.extension_count;
      const Reason reason = take_extension(h, next, in, at + 1, octets - 2);
      if (reason != Reason::ok) [[unlikely]]
        return reason;
      next = p[at + octets - 1];
      at += octets;
    }
  }
  h.payload_offset = static_cast<std::uint32_t>(at);
  h.payload_bytes = static_cast<std::uint32_t>(end - at);
  return Reason::ok;
}

}  // namespace detail

// Parses the UDP payload `in`. On a refusal the value holds what was read before. With gtpu_extension_unknown_required,
// unknown_extension and the fixed header's fields are valid, so that the caller can answer with message 31.
[[nodiscard]] SPLITPLANE_HD constexpr Result<Header> parse(Octets in) {
  Result<Header> r;
  r.reason = detail::read_header(in, r.value);
  return r;
}

// Payload of a message that parse() accepted.
[[nodiscard]] SPLITPLANE_HD constexpr Octets payload(Octets in, const Header& h) {
  return in.subspan(h.payload_offset, h.payload_bytes);
}

// Plain G-PDU header: 8 octets, or 0 if they do not fit.
SPLITPLANE_HD constexpr std::size_t write_gpdu(MutableOctets out, Teid teid, std::size_t payload_bytes) {
  if (out.size() < kHeaderBytes || payload_bytes > 0xFFFF) return 0;
  store_be64(out.data(), (std::uint64_t{kFlagsPlain} << 56) | (std::uint64_t{kGpdu} << 48) |
                             (static_cast<std::uint64_t>(payload_bytes) << 32) | teid.value);
  return kHeaderBytes;
}

namespace detail {

// `psc`: the two content octets.
SPLITPLANE_HD constexpr std::size_t write_gpdu_psc(MutableOctets out, Teid teid, std::size_t payload_bytes,
                                                   std::uint32_t psc, Qfi qfi) {
  constexpr std::size_t kAfterFixed = kHeaderWithPscBytes - kHeaderBytes;
  if (out.size() < kHeaderWithPscBytes || payload_bytes > 0xFFFF - kAfterFixed || qfi.value > psc::kMaxQfi) return 0;
  std::uint8_t* p = out.data();
  store_be64(p, (std::uint64_t{kFlagsPlain | kFlagE} << 56) | (std::uint64_t{kGpdu} << 48) |
                    (static_cast<std::uint64_t>(payload_bytes + kAfterFixed) << 32) | teid.value);
  store_be64(p + 8, (std::uint64_t{kExtensionPsc} << 32) | (1U << 24) | (psc << 8));
  return kHeaderWithPscBytes;
}

}  // namespace detail

// Writes a G-PDU header with the shortest PSC, exactly 16 octets. Returns 0 if they do not fit, if the payload is
// beyond 65527 octets or the QFI beyond 63.
SPLITPLANE_HD constexpr std::size_t write_gpdu_psc_ul(MutableOctets out, Teid teid, std::size_t payload_bytes,
                                                      Qfi qfi) {
  return detail::write_gpdu_psc(out, teid, payload_bytes, 0x1000U | qfi.value, qfi);
}
SPLITPLANE_HD constexpr std::size_t write_gpdu_psc_dl(MutableOctets out, Teid teid, std::size_t payload_bytes, Qfi qfi,
                                                      bool rqi = false) {
  return detail::write_gpdu_psc(out, teid, payload_bytes, (rqi ? 0x40U : 0U) | qfi.value, qfi);
}

struct Fields {
  std::uint8_t message_type = kGpdu;
  Teid teid{};
  bool has_sequence_number = false;
  std::uint16_t sequence_number = 0;
  bool has_n_pdu_number = false;
  std::uint8_t n_pdu_number = 0;
};

struct Extension {
  std::uint8_t type = 0;  // not 0
  Octets content;         // padded with zeros to 4n-2 octets
};

// Writes a header with any extension headers, for `payload_bytes` octets after it. Returns the header octets. Returns 0
// if they do not fit, if an extension has no type or is beyond 1018 octets, or if the length field would overflow.
SPLITPLANE_HD constexpr std::size_t write(MutableOctets out, const Fields& f, std::span<const Extension> extensions,
                                          std::size_t payload_bytes) {
  const bool options = f.has_sequence_number || f.has_n_pdu_number || !extensions.empty();
  std::size_t total = options ? kHeaderWithOptionsBytes : kHeaderBytes;
  for (const Extension& e : extensions) {
    if (e.type == 0 || e.content.size() > kMaxExtensionContentBytes) return 0;
    total += e.content.empty() ? 4 : (e.content.size() + 2 + 3) / 4 * 4;
  }
  if (out.size() < total || total - kHeaderBytes > 0xFFFF || payload_bytes > 0xFFFF - (total - kHeaderBytes)) return 0;
  std::uint8_t* p = out.data();
  p[0] = static_cast<std::uint8_t>(kFlagsPlain | (extensions.empty() ? 0 : kFlagE) |
                                   (f.has_sequence_number ? kFlagS : 0) | (f.has_n_pdu_number ? kFlagPn : 0));
  p[1] = f.message_type;
  store_be16(p + 2, static_cast<std::uint32_t>(total - kHeaderBytes + payload_bytes));
  store_be32(p + 4, f.teid.value);
  if (!options) return total;
  store_be16(p + 8, f.has_sequence_number ? f.sequence_number : 0U);
  p[10] = f.has_n_pdu_number ? f.n_pdu_number : std::uint8_t{0};
  std::size_t at = kHeaderWithOptionsBytes;
  std::uint8_t* type_field = p + 11;
  for (const Extension& e : extensions) {
    const std::size_t octets = e.content.empty() ? 4 : (e.content.size() + 2 + 3) / 4 * 4;
    *type_field = e.type;
    fill_zero(p + at, octets);
    p[at] = static_cast<std::uint8_t>(octets / 4);
    copy_octets(p + at + 1, e.content.data(), e.content.size());
    at += octets;
    type_field = p + at - 1;
  }
  *type_field = 0;
  return total;
}

}  // namespace splitplane::wire::gtpu

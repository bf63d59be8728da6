// GTP-U messages other than G-PDU (TS 29.281 7): path management, Error Indication, End Marker. Each parse_* takes the
// UDP payload and the header that gtpu::parse() made of it; each write_* writes the whole message.
//
//   Echo Request    S=1 TEID=0                     | Echo Response  S=1 TEID=0 | IE 14 Recovery: 0E counter(1)=0
//   Error Indication S=1 TEID=0 | [ext 40: port(2)] | IE 16: 10 TEID(4) | IE 133: 85 length(2)=4|16 address
//   End Marker      TEID of the tunnel              | Supported Extension Headers  S=1 TEID=0 | IE 141: 8D n(1)
//   type(1)*n IE types below 128 have a fixed size, from 128 on a length (two octets; one octet for type 141).
#pragma once

#include <array>

#include "wire/gtpu.h"

namespace splitplane::wire::gtpu {

inline constexpr std::uint8_t kIeRecovery = 14;
inline constexpr std::uint8_t kIeTeid = 16;
inline constexpr std::uint8_t kIePeerAddress = 133;
inline constexpr std::uint8_t kIeExtensionTypes = 141;

struct Echo {
  std::uint16_t sequence_number = 0;  // the response repeats the request's
  bool has_recovery = false;          // Echo Response: the peer sent its restart counter
  std::uint8_t recovery = 0;
};
struct ErrorIndication {
  Teid teid{};                             // the TEID that the sender does not know
  std::array<std::uint8_t, 16> address{};  // where the offending G-PDU went to; IPv4: first four octets
  std::uint8_t address_bytes = 4;          // 4 or 16
  bool has_udp_port = false;               // source port of the offending G-PDU
  std::uint16_t udp_port = 0;
};
struct SupportedExtensions {
  Octets types;
};

// Walks information elements; reason() is gtpu_ie_truncated or gtpu_ie_unknown when the walk ended early.
class IeCursor {
 public:
  SPLITPLANE_HD constexpr explicit IeCursor(Octets ies) : rest_(ies) {}

  SPLITPLANE_HD constexpr bool next(std::uint8_t& type, Octets& value) {
    if (rest_.empty() || reason_ != Reason::ok) return false;
    type = rest_[0];
    std::size_t header = 1;
    std::size_t bytes = 0;
    if (type < 128) {
      bytes = type == kIeRecovery ? 1 : type == kIeTeid ? 4 : 0;
      if (bytes == 0) return stop(Reason::gtpu_ie_unknown);
    } else {
      header = type == kIeExtensionTypes ? 2 : 3;
      if (rest_.size() < header) return stop(Reason::gtpu_ie_truncated);
      bytes = header == 2 ? rest_[1] : load_be16(rest_.data() + 1);
    }
    if (bytes > rest_.size() - header) return stop(Reason::gtpu_ie_truncated);
    value = rest_.subspan(header, bytes);
    rest_ = rest_.subspan(header + bytes);
    return true;
  }

  [[nodiscard]] SPLITPLANE_HD constexpr Reason reason() const { return reason_; }

 private:
  SPLITPLANE_HD constexpr bool stop(Reason reason) {
    reason_ = reason;
    return false;
  }

  Octets rest_;
  Reason reason_ = Reason::ok;
};

// Parses an Echo Request or Response, as `type` says. The Recovery IE may be absent, because some peers omit it; if it
// is there it must be complete.
[[nodiscard]] SPLITPLANE_HD constexpr Result<Echo> parse_echo(Octets in, const Header& h, std::uint8_t type) {
  if (h.message_type != type) return refuse<Echo>(Reason::gtpu_unexpected_message);
  if (!h.has_sequence_number()) return refuse<Echo>(Reason::gtpu_missing_sequence_number);
  Echo echo{.sequence_number = h.sequence_number};
  IeCursor ies(payload(in, h));
  std::uint8_t ie = 0;
  Octets value;
  while (ies.next(ie, value)) {
    if (ie != kIeRecovery || echo.has_recovery) continue;
    echo.has_recovery = true;
    echo.recovery = value[0];
  }
  if (ies.reason() == Reason::gtpu_ie_truncated) return refuse<Echo>(Reason::gtpu_ie_truncated);
  return {echo};
}

[[nodiscard]] SPLITPLANE_HD constexpr Result<ErrorIndication> parse_error_indication(Octets in, const Header& h) {
  if (h.message_type != kErrorIndication) return refuse<ErrorIndication>(Reason::gtpu_unexpected_message);
  ErrorIndication e;
  e.has_udp_port = h.has_udp_port;
  e.udp_port = h.udp_port;
  bool has_teid = false;
  bool has_address = false;
  IeCursor ies(payload(in, h));
  std::uint8_t type = 0;
  Octets value;
  while (ies.next(type, value)) {
    if (type == kIeTeid && !has_teid) {
      e.teid = Teid{load_be32(value.data())};
      has_teid = true;
    } else if (type == kIePeerAddress && !has_address) {
      if (value.size() != 4 && value.size() != 16) return refuse<ErrorIndication>(Reason::gtpu_ie_bad_length);
      copy_octets(e.address.data(), value.data(), value.size());
      e.address_bytes = static_cast<std::uint8_t>(value.size());
      has_address = true;
    }
  }
  if (ies.reason() == Reason::gtpu_ie_truncated) return refuse<ErrorIndication>(Reason::gtpu_ie_truncated);
  if (has_teid && has_address) return {e};
  return refuse<ErrorIndication>(ies.reason() == Reason::ok ? Reason::gtpu_ie_missing : ies.reason());
}

// The tunnel that ended. A PDU Session Container may come along (Header::psc).
[[nodiscard]] SPLITPLANE_HD constexpr Result<Teid> parse_end_marker(const Header& h) {
  if (h.message_type != kEndMarker) return refuse<Teid>(Reason::gtpu_unexpected_message);
  if (h.teid.value == 0) return refuse<Teid>(Reason::gtpu_bad_teid);
  return {h.teid};
}

[[nodiscard]] SPLITPLANE_HD constexpr Result<SupportedExtensions> parse_supported_extensions(Octets in,
                                                                                             const Header& h) {
  if (h.message_type != kSupportedExtensionHeaders) return refuse<SupportedExtensions>(Reason::gtpu_unexpected_message);
  IeCursor ies(payload(in, h));
  std::uint8_t type = 0;
  Octets value;
  while (ies.next(type, value)) {
    if (type == kIeExtensionTypes) return {SupportedExtensions{value}};
  }
  return refuse<SupportedExtensions>(ies.reason() == Reason::ok ? Reason::gtpu_ie_missing : ies.reason());
}

namespace detail {

SPLITPLANE_HD constexpr Fields path_message(std::uint8_t type, std::uint16_t sequence_number) {
  return {type, Teid{0}, true, sequence_number, false, 0};
}

}  // namespace detail

// Each returns the octets of the message, 0 if they do not fit.
SPLITPLANE_HD constexpr std::size_t write_echo_request(MutableOctets out, Echo echo) {
  return write(out, detail::path_message(kEchoRequest, echo.sequence_number), {}, 0);
}

SPLITPLANE_HD constexpr std::size_t write_echo_response(MutableOctets out, Echo echo) {
  constexpr std::size_t kIes = 2;
  if (out.size() < kHeaderWithOptionsBytes + kIes) return 0;
  const std::size_t at = write(out, detail::path_message(kEchoResponse, echo.sequence_number), {}, kIes);
  out[at] = kIeRecovery;
  out[at + 1] = 0;  // TS 29.281 7.2.2: the restart counter is not used
  return at + kIes;
}

SPLITPLANE_HD constexpr std::size_t write_error_indication(MutableOctets out, const ErrorIndication& e) {
  if (e.address_bytes != 4 && e.address_bytes != 16) return 0;
  const std::size_t ies = 5U + 3U + e.address_bytes;
  if (out.size() < kHeaderWithOptionsBytes + (e.has_udp_port ? 4U : 0U) + ies) return 0;
  std::uint8_t port[2]{};
  store_be16(port, e.udp_port);
  const Extension extension{kExtensionUdpPort, Octets(port, 2)};
  const std::span<const Extension> extensions(&extension, e.has_udp_port ? 1 : 0);
  std::size_t at = write(out, detail::path_message(kErrorIndication, 0), extensions, ies);
  std::uint8_t* p = out.data() + at;
  p[0] = kIeTeid;
  store_be32(p + 1, e.teid.value);
  p[5] = kIePeerAddress;
  store_be16(p + 6, e.address_bytes);
  copy_octets(p + 8, e.address.data(), e.address_bytes);
  return at + ies;
}

SPLITPLANE_HD constexpr std::size_t write_end_marker(MutableOctets out, Teid teid) {
  return write(out, Fields{kEndMarker, teid, false, 0, false, 0}, {}, 0);
}

SPLITPLANE_HD constexpr std::size_t write_supported_extensions(MutableOctets out, Octets types) {
  const std::size_t ies = 2 + types.size();
  if (types.size() > 255 || out.size() < kHeaderWithOptionsBytes + ies) return 0;
  const std::size_t at = write(out, detail::path_message(kSupportedExtensionHeaders, 0), {}, ies);
  out[at] = kIeExtensionTypes;
  out[at + 1] = static_cast<std::uint8_t>(types.size());
  copy_octets(out.data() + at + 2, types.data(), types.size());
  return at + ies;
}

}  // namespace splitplane::wire::gtpu

// The IP packet of a PDU session as the UE side sees it: its length and its UE's address.
#pragma once

#include "ue/ue_outcome.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"

namespace splitplane::ue {

using wire::Octets;

struct IpPacket {
  UeOutcome outcome = UeOutcome::ok;
  Octets octets;  // without link padding behind it
  bool is_v6 = false;
};

// The IP packet at the start of `in`. The receiver handles IPv6 extension headers.
[[nodiscard]] inline IpPacket parse_ip(Octets in) {
  if (in.empty()) return {UeOutcome::pdu_too_short, {}, false};
  switch (in[0] >> 4) {
    case 4: {
      const auto ip = wire::ipv4::parse(in);
      if (!ip) return {outcome_of(ip.reason), {}, false};
      return {UeOutcome::ok, in.first(ip->total_bytes), false};
    }
    case 6: {
      if (in.size() < wire::ipv6::kHeaderBytes) return {UeOutcome::ipv6_truncated, {}, true};
      const std::size_t bytes = wire::ipv6::kHeaderBytes + wire::load_be16(in.data() + 4);
      if (bytes > in.size()) return {UeOutcome::ipv6_bad_payload_length, {}, true};
      return {UeOutcome::ok, in.first(bytes), true};
    }
    default:
      return {UeOutcome::not_ip, {}, false};
  }
}

[[nodiscard]] inline Octets source_of(const IpPacket& ip) {
  return ip.is_v6 ? ip.octets.subspan(8, 16) : ip.octets.subspan(12, 4);
}
[[nodiscard]] inline Octets destination_of(const IpPacket& ip) {
  return ip.is_v6 ? ip.octets.subspan(24, 16) : ip.octets.subspan(16, 4);
}

}  // namespace splitplane::ue

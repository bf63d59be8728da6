#include "tap/framing_headers.h"

#include <array>

#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/udp.h"

namespace splitplane::tap {

std::size_t write_framing_headers(wire::MutableOctets out, Direction direction, std::uint32_t ue, std::size_t payload) {
  const std::array<std::uint8_t, 6> ue_mac{2,
                                           0,
                                           static_cast<std::uint8_t>(ue >> 24),
                                           static_cast<std::uint8_t>(ue >> 16),
                                           static_cast<std::uint8_t>(ue >> 8),
                                           static_cast<std::uint8_t>(ue)};
  constexpr std::array<std::uint8_t, 6> kGnbMac{2, 1, 0, 0, 0, 0};
  const bool down = direction == Direction::kDownlink;
  std::size_t n =
      wire::ethernet::write(out, down ? ue_mac : kGnbMac, down ? kGnbMac : ue_mac, wire::ethernet::kTypeIpv4);
  wire::ipv4::Header ip;
  ip.ttl = 64;
  ip.protocol = wire::ipv4::kProtocolUdp;
  ip.source = down ? 0x7f000001 : 0x7f000002;
  ip.destination = down ? 0x7f000002 : 0x7f000001;
  n += wire::ipv4::write(out.subspan(n), ip, wire::udp::kHeaderBytes + payload);
  return n + wire::udp::write(out.subspan(n), kFramingPort, kFramingPort, payload);
}

}  // namespace splitplane::tap

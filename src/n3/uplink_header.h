// The inline half of interface.h: it writes the uplink header of one packet from the peer's template.
#pragma once

#include <cstring>

#include "wire/bytes.h"

namespace splitplane::datapath {

template <unsigned kTagBytes>
inline void write_uplink(const N3Peer& peer, std::uint32_t teid, std::uint8_t qfi, std::uint8_t tos, unsigned payload,
                         std::uint8_t* out) {
  constexpr unsigned kIp = 14 + kTagBytes;
  const unsigned gtpu_length = payload + 8;  // optional octets and container (TS 29.281 5.1)
  const unsigned udp_length = payload + 8 + kGtpuPscBytes;
  std::uint8_t* const ip = out + kIp;
  std::uint8_t* gtpu;
  if (!peer.ipv6) [[likely]] {
    std::memcpy(out, peer.header.data(), kN3OverheadIpv4 + kTagBytes);
    const unsigned total = udp_length + 20;
    unsigned sum = peer.checksum_base + total + tos;
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    ip[1] = tos;
    wire::store_be16(ip + 2, total);
    wire::store_be16(ip + 10, ~sum & 0xffffU);
    wire::store_be16(ip + 20 + 4, udp_length);
    gtpu = ip + 20 + 8;
  } else {
    std::memcpy(out, peer.header.data(), kN3OverheadIpv6 + kTagBytes);
    wire::store_be16(ip, 0x6000U | unsigned{tos} << 4);
    wire::store_be16(ip + 4, udp_length);
    wire::store_be16(ip + 40 + 4, udp_length);
    gtpu = ip + 40 + 8;
  }
  wire::store_be16(gtpu + 2, gtpu_length);
  wire::store_be32(gtpu + 4, teid);
  gtpu[14] = qfi;
  if (peer.ipv6) [[unlikely]]
    write_uplink_ipv6_checksum(ip, payload);
}

}  // namespace splitplane::datapath

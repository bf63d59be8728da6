#include "n3/interface.h"

#include <algorithm>

#include "wire/gtpu.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/udp.h"

namespace splitplane::datapath {
namespace {

void write_ipv4(N3Peer& peer, unsigned ethernet_bytes, const N3Addresses& ours, const IpAddress& upf) {
  wire::ipv4::Header ip;
  ip.fragment = wire::ipv4::kDontFragment;
  ip.ttl = 64;
  ip.protocol = wire::ipv4::kProtocolUdp;
  std::uint8_t source[4];
  std::memcpy(source, &ours.ipv4, 4);
  ip.source = wire::load_be32(source);
  ip.destination = wire::load_be32(upf.octets().data());
  std::uint8_t* at = peer.header.data() + ethernet_bytes;
  wire::ipv4::write({at, 20}, ip, 0);
  wire::store_be16(at + 2, 0);
  wire::store_be16(at + 10, 0);
  for (unsigned i = 0; i < 20; i += 2) peer.checksum_base += wire::load_be16(at + i);
  wire::udp::write({at + 20, 8}, wire::gtpu::kPort, wire::gtpu::kPort, 0);
}

void write_ipv6(N3Peer& peer, unsigned ethernet_bytes, const N3Addresses& ours, const IpAddress& upf) {
  wire::ipv6::Header ip;
  ip.next_header = wire::ipv6::kProtocolUdp;
  ip.hop_limit = 64;
  std::uint8_t* at = peer.header.data() + ethernet_bytes;
  wire::ipv6::write({at, 40}, ip, std::span<const std::uint8_t, 16>(ours.ipv6),
                    std::span<const std::uint8_t, 16>(upf.octets()), 0);
  wire::udp::write({at + 40, 8}, wire::gtpu::kPort, wire::gtpu::kPort, 0);
}

}  // namespace

N3Peer make_peer(const N3Addresses& ours, const IpAddress& upf, std::optional<MacAddress> mac) {
  N3Peer peer;
  peer.ipv6 = upf.is_v6();
  peer.resolved = mac.has_value();
  const unsigned ethernet_bytes = 14 + (ours.sends_tagged() ? kVlanTagBytes : 0);
  const unsigned packet_headers = (upf.is_v6() ? kN3OverheadIpv6 : kN3OverheadIpv4) - 14;
  peer.header_bytes = static_cast<std::uint8_t>(ethernet_bytes + packet_headers);
  if (mac && ours.mtu > packet_headers) peer.max_payload = static_cast<std::uint16_t>(ours.mtu - packet_headers);
  wire::ethernet::write({peer.header.data(), ethernet_bytes}, mac.value_or(MacAddress{}).octets, ours.mac.octets,
                        upf.is_v6() ? wire::ethernet::kTypeIpv6 : wire::ethernet::kTypeIpv4,
                        std::span(&ours.vlan, ours.sends_tagged() ? 1 : 0));
  if (upf.is_v6()) {
    write_ipv6(peer, ethernet_bytes, ours, upf);
  } else {
    write_ipv4(peer, ethernet_bytes, ours, upf);
  }
  wire::gtpu::write_gpdu_psc_ul({peer.header.data() + peer.header_bytes - kGtpuPscBytes, kGtpuPscBytes}, Teid{0}, 0,
                                Qfi{0});
  return peer;
}

void write_uplink_ipv6_checksum(std::uint8_t* ip, unsigned payload) {
  std::uint8_t* datagram = ip + 40;
  const std::size_t bytes = 8 + kGtpuPscBytes + payload;
  wire::store_be16(datagram + 6, wire::udp::checksum({ip + 8, 16}, {ip + 24, 16}, {datagram, bytes}));
}

}  // namespace splitplane::datapath

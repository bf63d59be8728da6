// For tests only: N3 frames made by the writers of wire/, in every form that a UPF may send and in some that no UPF
// should send.
#pragma once

#include <array>
#include <vector>

#include "n3/interface.h"
#include "wire/ethernet.h"
#include "wire/gtpu.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/udp.h"

namespace splitplane::datapath::test {

using Bytes = std::vector<std::uint8_t>;

inline constexpr std::uint32_t kOurIpv4 = 0x0a640001;  // 10.100.0.1
inline constexpr std::uint32_t kUpfIpv4 = 0x0a640002;
inline constexpr std::array<std::uint8_t, 16> kOurIpv6{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
inline constexpr std::array<std::uint8_t, 16> kUpfIpv6{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
inline constexpr MacAddress kOurMac{{0x02, 0, 0, 0, 0, 0x01}};
inline constexpr MacAddress kUpfMac{{0x02, 0, 0, 0, 0, 0x02}};

// Accepts frames with tags and without. Other tests check what a tag means to an interface.
inline N3Addresses our_addresses() {
  return {.ipv4 = __builtin_bswap32(kOurIpv4), .ipv6 = kOurIpv6, .mac = kOurMac, .vlan = N3Addresses::kAnyVlan};
}

// An inner packet: its first octet says IPv4 or IPv6, the rest tells packets apart.
inline Bytes inner_packet(std::size_t bytes, std::uint8_t seed = 0, bool ipv6 = false) {
  Bytes octets(bytes);
  for (std::size_t i = 0; i < bytes; ++i) octets[i] = static_cast<std::uint8_t>(7 * i + 13 * seed + 3);
  if (bytes != 0) octets[0] = ipv6 ? 0x60 : 0x45;
  return octets;
}

struct GtpuExtension {
  std::uint8_t type = 0;
  Bytes content;
};

struct N3Frame {
  std::vector<std::uint16_t> tags;
  bool ipv6 = false;
  Bytes ip_options;              // of IPv4; of IPv6: extension headers as they are
  std::uint8_t first_next = 17;  // IPv4 protocol; IPv6 next header of the fixed header
  std::uint16_t fragment = wire::ipv4::kDontFragment;
  std::uint32_t source = kUpfIpv4, destination = kOurIpv4;
  std::array<std::uint8_t, 16> source_v6 = kUpfIpv6, destination_v6 = kOurIpv6;
  std::uint16_t port = wire::gtpu::kPort;
  std::uint8_t message = wire::gtpu::kGpdu;
  std::uint32_t teid = 0x01020304;
  bool sequence_number = false, n_pdu_number = false;
  std::vector<GtpuExtension> extensions{{wire::gtpu::kExtensionPsc, {0x00, 0x09}}};
  Bytes payload = inner_packet(40);
  std::size_t padding = 0;                  // octets of the frame behind the IP packet
  std::size_t udp_slack = 0, ip_slack = 0;  // octets of the UDP datagram behind GTP-U, of the IP packet behind UDP

  [[nodiscard]] Bytes make() const {
    std::array<std::uint8_t, 2048> room{};
    std::vector<wire::gtpu::Extension> chain;
    for (const auto& e : extensions) chain.push_back({e.type, e.content});
    const wire::gtpu::Fields fields{.message_type = message,
                                    .teid = Teid{teid},
                                    .has_sequence_number = sequence_number,
                                    .sequence_number = 0x1234,
                                    .has_n_pdu_number = n_pdu_number,
                                    .n_pdu_number = 0x56};
    Bytes gtpu(room.begin(),
               room.begin() + static_cast<std::ptrdiff_t>(wire::gtpu::write(room, fields, chain, payload.size())));
    gtpu.insert(gtpu.end(), payload.begin(), payload.end());
    gtpu.resize(gtpu.size() + udp_slack);

    const std::size_t ip_payload = 8 + gtpu.size() + ip_slack;
    std::size_t n = wire::ethernet::write(room, kOurMac.octets, kUpfMac.octets,
                                          ipv6 ? wire::ethernet::kTypeIpv6 : wire::ethernet::kTypeIpv4, tags);
    const auto rest = [&] { return wire::MutableOctets(room).subspan(n); };
    if (ipv6) {
      wire::ipv6::Header ip;
      ip.next_header = first_next;
      ip.hop_limit = 64;
      n += wire::ipv6::write(rest(), ip, source_v6, destination_v6, ip_options.size() + ip_payload);
      wire::copy_octets(rest().data(), ip_options.data(), ip_options.size());
      n += ip_options.size();
    } else {
      wire::ipv4::Header ip;
      ip.ttl = 64;
      ip.protocol = first_next;
      ip.fragment = fragment;
      ip.source = source;
      ip.destination = destination;
      n += wire::ipv4::write(rest(), ip, ip_payload, ip_options);
    }
    n += wire::udp::write(rest(), port, port, gtpu.size());
    Bytes frame(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(n));
    frame.insert(frame.end(), gtpu.begin(), gtpu.end());
    frame.resize(frame.size() + ip_slack + padding);
    return frame;
  }
};

// Hop-by-hop, destination options and an atomic fragment header in front of UDP (RFC 8200 4, RFC 6946).
inline Bytes ipv6_extension_headers() {
  return {60, 0, 1, 4, 0, 0, 0, 0, 44, 0, 1, 4, 0, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0, 1};
}

inline Bytes arp_frame() {
  Bytes frame(14 + 28);
  wire::ethernet::write(frame, kOurMac.octets, kUpfMac.octets, wire::ethernet::kTypeArp);
  return frame;
}

// A neighbor solicitation (135) or advertisement (136), after `extensions` if there are some.
inline Bytes neighbor_frame(std::uint8_t type, std::uint8_t first_next = 58, const Bytes& extensions = {}) {
  Bytes frame(14 + 40);
  wire::ethernet::write(frame, kOurMac.octets, kUpfMac.octets, wire::ethernet::kTypeIpv6);
  wire::ipv6::Header ip;
  ip.next_header = first_next;
  ip.hop_limit = 255;
  wire::ipv6::write(wire::MutableOctets(frame).subspan(14), ip, kUpfIpv6, kOurIpv6, extensions.size() + 24);
  frame.insert(frame.end(), extensions.begin(), extensions.end());
  frame.push_back(type);
  frame.resize(frame.size() + 23);
  return frame;
}

}  // namespace splitplane::datapath::test

// For tests of the guard only: TCP frames as octets, written field by field, and what is read back from frames. It uses
// none of the code under test but loads and stores; checksums are summed here.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/ip_address.h"
#include "engine/test_environment.h"
#include "guard/segment/test_slow_read.h"
#include "wire/bytes.h"

namespace splitplane::guard::test {

using datapath::test::Bytes;

inline constexpr std::uint8_t kFin = 1, kSyn = 2, kRst = 4, kPsh = 8, kAck = 16, kUrg = 32, kEce = 64, kCwr = 128;

// One TCP segment of either side; `write()` makes the frame.
struct Frame {
  std::string from = "192.0.2.7", to = "10.0.0.1";
  std::uint16_t from_port = 40000, to_port = 80;
  std::uint32_t sequence = 1000, acknowledgment = 0;
  std::uint8_t flags = kSyn;
  std::uint16_t window = 64240;
  Bytes options;     // of TCP; a multiple of 4
  Bytes ip_options;  // IPv4 options, or IPv6 extension headers whose last one names TCP
  Bytes payload;
  std::vector<std::uint16_t> vlans;
  std::uint8_t extension = 0;  // IPv6: the kind of the first extension header
  std::uint8_t tos = 0;
  std::uint16_t fragment = 0;  // IPv4: flags and offset
  unsigned padding = 0;        // octets behind the packet
  bool bad_checksum = false;
  std::array<std::uint8_t, 12> macs{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2};

  [[nodiscard]] Frame back() const {  // the same connection, the other way
    Frame f;
    f.from = to;
    f.to = from;
    f.from_port = to_port;
    f.to_port = from_port;
    f.vlans = vlans;
    return f;
  }
};

inline std::uint32_t ones_sum(std::uint32_t sum, const Bytes& octets) {
  for (std::size_t i = 0; i < octets.size(); ++i) {
    sum += i % 2 == 0 ? static_cast<std::uint32_t>(octets[i]) << 8 : octets[i];
    sum = (sum & 0xFFFF) + (sum >> 16);
  }
  return sum;
}

inline void put16(Bytes& out, std::uint32_t v) {
  out.push_back(static_cast<std::uint8_t>(v >> 8));
  out.push_back(static_cast<std::uint8_t>(v));
}
inline void put32(Bytes& out, std::uint32_t v) {
  put16(out, v >> 16);
  put16(out, v & 0xFFFF);
}
inline void put(Bytes& out, const Bytes& more) {
  out.insert(out.end(), more.begin(), more.end());
}

inline Bytes address_of(const std::string& text) {
  const IpAddress address = IpAddress::parse(text).value();
  return {address.octets().begin(), address.octets().begin() + (address.is_v6() ? 16 : 4)};
}

inline Bytes pseudo_header(const Bytes& from, const Bytes& to, std::size_t bytes, std::uint8_t protocol = 6) {
  Bytes out = from;
  put(out, to);
  put16(out, protocol);
  put16(out, static_cast<std::uint32_t>(bytes));
  return out;
}

inline Bytes tcp_of(const Frame& f) {
  Bytes tcp;
  put16(tcp, f.from_port);
  put16(tcp, f.to_port);
  put32(tcp, f.sequence);
  put32(tcp, f.acknowledgment);
  tcp.push_back(static_cast<std::uint8_t>((20 + f.options.size()) / 4 << 4));
  tcp.push_back(f.flags);
  put16(tcp, f.window);
  put32(tcp, 0);
  put(tcp, f.options);
  put(tcp, f.payload);
  const Bytes from = address_of(f.from), to = address_of(f.to);
  std::uint32_t sum = ~ones_sum(ones_sum(0, pseudo_header(from, to, tcp.size())), tcp) & 0xFFFF;
  if (f.bad_checksum) sum ^= 0x0100;
  wire::store_be16(tcp.data() + 16, sum);
  return tcp;
}

inline Bytes ip_of(const Frame& f, std::uint8_t protocol, const Bytes& upper) {
  const Bytes from = address_of(f.from), to = address_of(f.to);
  Bytes ip;
  if (from.size() == 4) {
    ip.push_back(static_cast<std::uint8_t>(0x40 | (20 + f.ip_options.size()) / 4));
    ip.push_back(f.tos);
    put16(ip, static_cast<std::uint32_t>(20 + f.ip_options.size() + upper.size()));
    put16(ip, 0x1234);
    put16(ip, f.fragment);
    ip.push_back(57);
    ip.push_back(protocol);
    put16(ip, 0);
    put(ip, from);
    put(ip, to);
    put(ip, f.ip_options);
    wire::store_be16(ip.data() + 10, ~ones_sum(0, ip) & 0xFFFF);
  } else {
    put32(ip, 6U << 28 | static_cast<std::uint32_t>(f.tos) << 20 | 0x12345);
    put16(ip, static_cast<std::uint32_t>(f.ip_options.size() + upper.size()));
    ip.push_back(f.ip_options.empty() ? protocol : f.extension);
    ip.push_back(57);
    put(ip, from);
    put(ip, to);
    put(ip, f.ip_options);
  }
  put(ip, upper);
  return ip;
}

inline Bytes framed(const Frame& f, const Bytes& ip) {
  Bytes out(f.macs.begin(), f.macs.end());
  for (std::size_t i = 0; i < f.vlans.size(); ++i) {
    put16(out, i + 1 < f.vlans.size() ? 0x88A8 : 0x8100);
    put16(out, f.vlans[i]);
  }
  put16(out, (ip[0] >> 4) == 4 ? 0x0800 : 0x86DD);
  put(out, ip);
  for (unsigned i = 0; i < f.padding; ++i) out.push_back(0xEE);
  return out;
}

inline Bytes write(const Frame& f) {
  return framed(f, ip_of(f, 6, tcp_of(f)));
}

// An ICMP error from `f.from` to `f.to` that quotes the first octets of an IP packet.
inline Bytes icmp_error(const Frame& f, std::uint8_t type, Bytes quoted) {
  const Bytes from = address_of(f.from), to = address_of(f.to);
  Bytes icmp{type, 0, 0, 0, 0, 0, 5, 0};
  put(icmp, quoted);
  const std::uint8_t protocol = from.size() == 4 ? 1 : 58;
  std::uint32_t sum = from.size() == 4 ? 0 : ones_sum(0, pseudo_header(from, to, icmp.size(), 58));
  sum = ~ones_sum(sum, icmp) & 0xFFFF;
  wire::store_be16(icmp.data() + 2, sum);
  return framed(f, ip_of(f, protocol, icmp));
}

// What a frame without options in IP says, and whether its checksums are good.
struct ReadBack {
  Frame frame;
  std::uint8_t ttl = 0;
  std::size_t ip_bytes = 0;
  bool checksums_good = false;
};

inline std::string text_of_address(const std::uint8_t* p, bool v6) {
  std::array<std::uint8_t, 16> octets{};
  std::memcpy(octets.data(), p, v6 ? 16 : 4);
  return v6 ? IpAddress::v6(octets).to_string()
            : IpAddress::v4({octets[0], octets[1], octets[2], octets[3]}).to_string();
}

inline ReadBack read_back(const Bytes& in) {
  ReadBack r;
  Frame& f = r.frame;
  f.vlans.clear();
  std::memcpy(f.macs.data(), in.data(), 12);
  std::size_t at = 12;
  std::uint16_t type = wire::load_be16(in.data() + at);
  at += 2;
  while (type == 0x8100 || type == 0x88A8) {
    f.vlans.push_back(wire::load_be16(in.data() + at));
    type = wire::load_be16(in.data() + at + 2);
    at += 4;
  }
  const std::uint8_t* const ip = in.data() + at;
  const bool v6 = type == 0x86DD;
  std::size_t header = 40, end = 0;
  bool ip_good = true;
  if (!v6) {
    header = (ip[0] & 15U) * 4U;
    end = wire::load_be16(ip + 2);
    f.tos = ip[1];
    f.fragment = wire::load_be16(ip + 6);
    r.ttl = ip[8];
    ip_good = ones_sum(0, Bytes(ip, ip + header)) == 0xFFFF;
  } else {
    end = 40U + wire::load_be16(ip + 4);
    f.tos = static_cast<std::uint8_t>(wire::load_be32(ip) >> 20);
    r.ttl = ip[7];
  }
  r.ip_bytes = end;
  f.from = text_of_address(ip + (v6 ? 8 : 12), v6);
  f.to = text_of_address(ip + (v6 ? 24 : 16), v6);
  const std::uint8_t* const tcp = ip + header;
  f.from_port = wire::load_be16(tcp);
  f.to_port = wire::load_be16(tcp + 2);
  f.sequence = wire::load_be32(tcp + 4);
  f.acknowledgment = wire::load_be32(tcp + 8);
  const std::size_t tcp_header = (tcp[12] >> 4) * 4U;
  f.flags = tcp[13];
  f.window = wire::load_be16(tcp + 14);
  f.options.assign(tcp + 20, tcp + tcp_header);
  f.payload.assign(tcp + tcp_header, ip + end);
  f.padding = static_cast<unsigned>(in.size() - at - end);
  const Bytes segment(tcp, ip + end);
  r.checksums_good =
      ip_good &&
      ones_sum(ones_sum(0, pseudo_header(address_of(f.from), address_of(f.to), segment.size())), segment) == 0xFFFF;
  return r;
}

// Writes the checksums of a damaged segment as a sender would have, so that what is wrong elsewhere gets further.
inline void repair(Bytes& frame) {
  const auto s = SlowReader(frame).tcp();
  if (!s) return;
  const auto octets = [&](std::size_t from, std::size_t end) { return Bytes(frame.data() + from, frame.data() + end); };
  if (!s->is_v6) {
    wire::store_be16(frame.data() + s->ip_at + 10, 0);
    const std::size_t header = 4U * (frame[s->ip_at] & 15U);
    wire::store_be16(frame.data() + s->ip_at + 10, ~ones_sum(0, octets(s->ip_at, s->ip_at + header)) & 0xFFFF);
  }
  wire::store_be16(frame.data() + s->tcp_at + 16, 0);
  const Bytes from(s->from.begin(), s->from.end()), to(s->to.begin(), s->to.end());
  const std::uint32_t pseudo = ones_sum(0, pseudo_header(from, to, s->end - s->tcp_at));
  wire::store_be16(frame.data() + s->tcp_at + 16, ~ones_sum(pseudo, octets(s->tcp_at, s->end)) & 0xFFFF);
}

}  // namespace splitplane::guard::test

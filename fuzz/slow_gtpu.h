// For fuzz targets: GTP-U and the PDU Session Container by the tables of TS 29.281 and TS 38.415, bit by bit. It shares
// no code with src/wire.
#pragma once

#include <optional>

#include "slow_bits.h"

namespace splitplane::fuzz {

struct SlowPsc {
  bool uplink = false, rqi = false, has_ppi = false, has_time = false, has_sn = false;
  bool has_dl_delay = false, has_ul_delay = false, has_n3_delay = false, has_new = false, d1 = false;
  std::uint8_t qfi = 0, ppi = 0, new_flags = 0;
  std::uint64_t dl_sent = 0, dl_received = 0, ul_sent = 0;
  std::uint32_t dl_delay = 0, ul_delay = 0, sn = 0, n3_delay = 0;
  bool whole = true;  // false: the octet that a new IE flag announces is missing
};

inline std::optional<SlowPsc> slow_psc(Octets content) {
  SlowBits b(content);
  SlowPsc p;
  const std::uint64_t type = b.take(4);
  if (type > 1) return std::nullopt;
  p.uplink = type == 1;
  p.has_time = b.flag();
  if (!p.uplink) {
    p.has_sn = b.flag();
    b.skip(2);  // MSNP, spare
    p.has_ppi = b.flag();
    p.rqi = b.flag();
  } else {
    p.has_dl_delay = b.flag();
    p.has_ul_delay = b.flag();
    p.has_sn = b.flag();
    p.has_n3_delay = b.flag();
    p.has_new = b.flag();
  }
  p.qfi = static_cast<std::uint8_t>(b.take(6));
  if (p.has_ppi) {
    p.ppi = static_cast<std::uint8_t>(b.take(3));
    b.skip(5);
  }
  if (p.has_time) p.dl_sent = b.take(64);
  if (p.has_time && p.uplink) {
    p.dl_received = b.take(64);
    p.ul_sent = b.take(64);
  }
  if (p.has_dl_delay) p.dl_delay = b.take32(32);
  if (p.has_ul_delay) p.ul_delay = b.take32(32);
  if (p.has_sn) p.sn = b.take32(24);
  if (p.has_n3_delay) p.n3_delay = b.take32(32);
  if (p.has_new) p.new_flags = static_cast<std::uint8_t>(b.take(8));
  if (b.ended()) return std::nullopt;
  if (p.new_flags % 2 == 1) {
    b.skip(7);
    p.d1 = b.flag();
    p.whole = !b.ended();
  }
  return p;
}

struct SlowGtpu {
  bool e = false, s = false, pn = false;
  std::uint8_t type = 0, n_pdu = 0;
  std::uint32_t teid = 0;
  std::uint16_t length = 0, sn = 0;
  std::optional<SlowPsc> psc;
  std::optional<std::uint16_t> udp_port;
  std::optional<std::uint32_t> pdcp_number;
  std::optional<std::size_t> container_bytes;
  Octets payload;
};

inline std::optional<SlowGtpu> slow_gtpu(Octets in) {
  SlowBits b(in);
  SlowGtpu g;
  if (b.take(3) != 1) return std::nullopt;
  if (!b.flag()) return std::nullopt;
  b.skip(1);
  g.e = b.flag(), g.s = b.flag(), g.pn = b.flag();
  g.type = static_cast<std::uint8_t>(b.take(8));
  g.length = static_cast<std::uint16_t>(b.take(16));
  g.teid = b.take32(32);
  if (b.ended() || 8U + g.length > in.size()) return std::nullopt;
  const Octets message = in.first(8U + g.length);  // later octets are not part of it
  b = SlowBits(message);
  b.skip(64);
  if (g.e || g.s || g.pn) {
    g.sn = static_cast<std::uint16_t>(b.take(16));
    g.n_pdu = static_cast<std::uint8_t>(b.take(8));
    std::uint64_t next = b.take(8);
    if (b.ended()) return std::nullopt;
    for (unsigned count = 1; g.e && next != 0; ++count) {
      const std::size_t units = b.take(8);
      if (count > 8 || b.ended() || units == 0) return std::nullopt;  // eight: our limit, docs/limits of gtpu.h
      const std::size_t bytes = 4 * units - 2;
      if (b.rest().size() < bytes + 1) return std::nullopt;
      const Octets content = b.rest().first(bytes);
      SlowBits inside(content);
      switch (next) {
        case 0x85:  // the first of several counts
          if (!g.psc && !(g.psc = slow_psc(content))) return std::nullopt;
          break;
        case 0x40:
          if (!g.udp_port) g.udp_port = static_cast<std::uint16_t>(inside.take(16));
          break;
        case 0xC0:
          inside.skip(1);
          if (!g.pdcp_number) g.pdcp_number = inside.take32(15);
          break;
        case 0x03:
        case 0x82:
          if (units < 2) return std::nullopt;
          inside.skip(6);
          if (!g.pdcp_number) g.pdcp_number = inside.take32(18);
          break;
        case 0x84:
          if (!g.container_bytes) g.container_bytes = bytes;
          break;
        case 0x20:
        case 0x81:
        case 0x83:
          break;
        default:
          if (next >= 0x80) return std::nullopt;  // needs comprehension
      }
      b.skip(bytes * 8);
      next = b.take(8);
    }
  }
  g.payload = b.rest();
  return g;
}

// The first information element of a type in a message's payload; `whole` is false if the message ends inside one.
struct SlowIes {
  std::optional<Octets> recovery, teid, address, extensions;
  bool truncated = false, unknown = false;
};

inline SlowIes slow_ies(Octets ies) {
  SlowIes found;
  while (!ies.empty()) {
    SlowBits b(ies);
    const std::uint64_t type = b.take(8);
    std::size_t bytes = 0;
    if (type == 14) bytes = 1;
    if (type == 16) bytes = 4;
    if (type == 141) bytes = b.take(8);
    if (type >= 128 && type != 141) bytes = b.take(16);
    if (type < 128 && bytes == 0) {
      found.unknown = true;
      return found;
    }
    if (b.ended() || b.rest().size() < bytes) {
      found.truncated = true;
      return found;
    }
    const Octets value = b.rest().first(bytes);
    const auto note = [&](std::optional<Octets>& into) {
      if (!into) into = value;
    };
    if (type == 14) note(found.recovery);
    if (type == 16) note(found.teid);
    if (type == 133) note(found.address);
    if (type == 141) note(found.extensions);
    ies = b.rest().subspan(bytes);
  }
  return found;
}

}  // namespace splitplane::fuzz

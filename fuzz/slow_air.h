// For fuzz targets: RLC, PDCP, SDAP and MAC by the tables of TS 38.322, 38.323, 37.324 and 38.321, bit by bit. It
// shares no code with src/wire.
#pragma once

#include <map>
#include <optional>

#include "slow_bits.h"

namespace splitplane::fuzz {

// SI: 0 complete, 1 first, 2 last, 3 middle segment.
struct SlowRlcPdu {
  bool poll = false;
  unsigned si = 0;
  std::uint32_t sn = 0, so = 0;
  std::size_t header = 0;
};

inline std::optional<SlowRlcPdu> finish_rlc(SlowBits& b, SlowRlcPdu p) {
  if (p.si >= 2) {
    p.so = b.take32(16);
    if (p.so == 0) return std::nullopt;  // only a first segment begins at 0
  }
  p.header = b.octets_read();
  if (b.ended() || b.rest().empty()) return std::nullopt;  // the data field has at least one octet
  return p;
}

inline std::optional<SlowRlcPdu> slow_um(Octets in, unsigned sn_bits) {
  if (sn_bits != 6 && sn_bits != 12) return std::nullopt;
  SlowBits b(in);
  SlowRlcPdu p;
  p.si = b.take32(2);
  if (p.si == 0) {
    b.skip(6);
  } else {
    b.skip(sn_bits == 12 ? 2 : 0);
    p.sn = b.take32(sn_bits);
  }
  return finish_rlc(b, p);
}

inline std::optional<SlowRlcPdu> slow_am(Octets in, unsigned sn_bits) {
  if (sn_bits != 12 && sn_bits != 18) return std::nullopt;
  SlowBits b(in);
  SlowRlcPdu p;
  if (!b.flag()) return std::nullopt;
  p.poll = b.flag();
  p.si = b.take32(2);
  b.skip(sn_bits == 18 ? 2 : 0);
  p.sn = b.take32(sn_bits);
  return finish_rlc(b, p);
}

struct SlowNack {
  std::uint32_t sn = 0, start = 0, end = 0xFFFF, range = 1;
  bool has_so = false, has_range = false;
};
struct SlowStatus {
  std::uint32_t ack = 0;
  std::vector<SlowNack> nacks;
};

inline std::optional<SlowStatus> slow_status(Octets in, unsigned sn_bits) {
  if (sn_bits != 12 && sn_bits != 18) return std::nullopt;
  SlowBits b(in);
  SlowStatus s;
  if (b.take(1) != 0 || b.take(3) != 0) return std::nullopt;
  s.ack = b.take32(sn_bits);
  bool more = b.flag();
  b.skip(sn_bits == 12 ? 7 : 1);
  while (more && !b.ended()) {
    SlowNack n;
    n.sn = b.take32(sn_bits);
    more = b.flag();
    n.has_so = b.flag();
    n.has_range = b.flag();
    b.skip(sn_bits == 12 ? 1 : 3);
    if (n.has_so) n.start = b.take32(16), n.end = b.take32(16);
    if (n.has_range) n.range = b.take32(8);
    if (!b.ended() && (n.range == 0 || (n.has_so && n.range == 1 && n.end < n.start))) return std::nullopt;
    s.nacks.push_back(n);
  }
  if (b.ended() || !b.rest().empty()) return std::nullopt;
  return s;
}

struct SlowPdcpData {
  std::uint32_t sn = 0;
  std::size_t header = 0;
};
inline std::optional<SlowPdcpData> slow_pdcp_data(Octets in, unsigned sn_bits) {
  SlowBits b(in);
  if (!b.flag()) return std::nullopt;
  b.skip(sn_bits == 12 ? 3 : 5);
  const std::uint32_t sn = b.take32(sn_bits);
  if (b.ended()) return std::nullopt;
  return SlowPdcpData{sn, b.octets_read()};
}

// The COUNTs that a status report names missing or received, by their distance from FMC.
struct SlowReport {
  std::uint32_t fmc = 0;
  std::vector<bool> received;  // of FMC + 1, FMC + 2, ...
};
inline std::optional<SlowReport> slow_report(Octets in) {
  SlowBits b(in);
  if (b.take(1) != 0 || b.take(3) != 0 || in.size() > 9000) return std::nullopt;
  b.skip(4);
  SlowReport r;
  r.fmc = b.take32(32);
  if (b.ended()) return std::nullopt;
  for (std::size_t n = b.rest().size() * 8; n != 0; --n) r.received.push_back(b.flag());
  return r;
}

// Octets of a subPDU's payload by direction and LCID, formats.md 6.2; -1: it has a length field.
inline const std::map<unsigned, int>& slow_lcids(bool downlink) {
  static const std::map<unsigned, int> dl{{47, 2},  {48, 2},  {49, 3},  {51, 2},  {52, 2}, {56, 1},
                                          {57, 4},  {58, 1},  {59, 0},  {60, 0},  {61, 1}, {62, 6},
                                          {50, -1}, {53, -1}, {54, -1}, {55, -1}, {0, -1}};
  static const std::map<unsigned, int> ul{{0, 8},  {52, 6}, {53, 2},  {55, 0},  {57, 2},  {58, 2},
                                          {59, 1}, {61, 1}, {54, -1}, {56, -1}, {60, -1}, {62, -1}};
  return downlink ? dl : ul;
}

struct SlowSubPdu {
  std::uint32_t lcid = 0;
  Octets payload;
};
// The subPDUs up to the end of the transport block, or to the first one that does not fit or is of unknown size.
inline std::vector<SlowSubPdu> slow_mac(Octets block, bool downlink, bool& to_the_end) {
  std::vector<SlowSubPdu> all;
  to_the_end = false;
  while (!block.empty()) {
    SlowBits b(block);
    b.skip(1);
    const bool long_length = b.flag();
    std::uint32_t lcid = b.take32(6);
    std::size_t bytes = 0;
    const auto& table = slow_lcids(downlink);
    const auto row = table.find(lcid);
    if (lcid == 63) {
      bytes = b.rest().size();
    } else if (row != table.end() && row->second >= 0) {
      bytes = static_cast<std::size_t>(row->second);
    } else if (row != table.end() || (lcid >= 1 && lcid <= 33)) {
      if (lcid == 33) lcid = 320 + b.take32(16);
      bytes = b.take(long_length ? 16 : 8);
    } else {
      return all;
    }
    if (b.ended() || b.rest().size() < bytes) return all;
    all.push_back({lcid, b.rest().first(bytes)});
    block = b.rest().subspan(bytes);
  }
  to_the_end = true;
  return all;
}

}  // namespace splitplane::fuzz

// For fuzz targets: TCP's header and options by the tables of RFC 9293, RFC 7323 and RFC 2018, bit by bit, and the
// Internet checksum octet by octet. It shares no code with src/wire.
#pragma once

#include <map>
#include <optional>

#include "slow_bits.h"

namespace splitplane::fuzz {

struct SlowTcp {
  std::uint32_t source_port = 0, destination_port = 0, sequence = 0, acknowledgment = 0;
  std::uint32_t header_bytes = 0, flags = 0, window = 0;
  bool options_are_good = true;
  // Kind: place of the data of its first option from the header, and the data.
  std::map<unsigned, std::pair<std::size_t, Octets>> options;
};

inline bool slow_option_fits(unsigned kind, std::size_t data_bytes) {
  if (kind == 2) return data_bytes == 2;
  if (kind == 3) return data_bytes == 1;
  if (kind == 4) return data_bytes == 0;
  if (kind == 5) return data_bytes == 8 || data_bytes == 16 || data_bytes == 24 || data_bytes == 32;
  if (kind == 8) return data_bytes == 8;
  return true;
}

inline std::optional<SlowTcp> slow_tcp(Octets segment) {
  SlowBits b(segment);
  SlowTcp t;
  t.source_port = b.take32(16);
  t.destination_port = b.take32(16);
  t.sequence = b.take32(32);
  t.acknowledgment = b.take32(32);
  t.header_bytes = 4 * b.take32(4);
  b.skip(4);
  t.flags = b.take32(8);
  t.window = b.take32(16);
  b.skip(32);
  if (b.ended() || t.header_bytes < 20 || t.header_bytes > segment.size()) return std::nullopt;
  SlowBits o(segment.first(t.header_bytes).subspan(20));
  while (!o.rest().empty()) {
    const unsigned kind = o.take32(8);
    if (kind == 0) break;
    if (kind == 1) continue;
    const std::uint32_t length = o.take32(8);
    if (o.ended() || length < 2 || length - 2 > o.rest().size() || !slow_option_fits(kind, length - 2)) {
      t.options_are_good = false;
      break;
    }
    t.options.emplace(kind, std::pair{20 + o.octets_read(), o.rest().first(length - 2)});
    o.skip(8 * (length - 2));
  }
  return t;
}

// The one's complement sum of 16-bit words, the end around carry added word by word (RFC 1071).
inline std::uint16_t slow_checksum(const Bytes& octets) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < octets.size(); i += 2) {
    sum += octets[i] * 256U + (i + 1 < octets.size() ? octets[i + 1] : 0U);
    if (sum > 0xFFFF) sum -= 0xFFFF;
  }
  return static_cast<std::uint16_t>(0xFFFF - sum);
}

}  // namespace splitplane::fuzz

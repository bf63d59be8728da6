// For fuzz targets: pcapng by draft-ietf-opsawg-pcapng 3 and 4, little endian, as strict as possible. It shares no code
// with src/tap.
#pragma once

#include <string>
#include <utility>

#include "fuzz.h"

namespace splitplane::fuzz {

struct SlowPacket {
  std::uint32_t interface = 0, original = 0, flags = 0;
  std::uint64_t time = 0;
  Bytes octets;
  bool operator==(const SlowPacket&) const = default;
};
struct SlowFile {
  std::vector<std::pair<std::string, std::uint32_t>> interfaces;  // name, snapshot length
  std::vector<SlowPacket> packets;
  unsigned statistics = 0;
};

inline std::uint32_t le(Octets o, std::size_t at, std::size_t bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes; i-- > 0;) value = value * 256 + o[at + i];
  return value;
}
inline std::size_t padded(std::size_t n) {
  return n + (4 - n % 4) % 4;
}

// The value of an option, "" if it is absent. The list must end with the end of options.
inline std::string option(Octets list, std::uint32_t wanted) {
  std::string found;
  for (std::size_t at = 0;;) {
    require(at + 4 <= list.size(), "a list of options without an end");
    const std::uint32_t code = le(list, at, 2), bytes = le(list, at + 2, 2);
    if (code == 0) return require(at + 4 == list.size(), "octets behind the options"), found;
    require(at + 4 + padded(bytes) <= list.size(), "an option beyond its block");
    if (code == wanted) found.assign(reinterpret_cast<const char*>(list.data()) + at + 4, bytes);
    at += 4 + padded(bytes);
  }
}

// draft-ietf-opsawg-pcapng 3 and 4, little endian.
inline SlowFile slow_pcapng(Octets file) {
  SlowFile all;
  for (std::size_t at = 0; at != file.size();) {
    require(file.size() - at >= 12, "octets behind the last block");
    const std::uint32_t type = le(file, at, 4), bytes = le(file, at + 4, 4);
    require(bytes >= 12 && bytes % 4 == 0 && bytes <= file.size() - at, "a block of {} octets", bytes);
    same(le(file, at + bytes - 4, 4), bytes, "length of a block, at its end");
    const Octets body = file.subspan(at + 8, bytes - 12);
    require((type == 0x0A0D0D0A) == (at == 0), "section header elsewhere");
    if (type == 0x0A0D0D0A) {
      require(le(body, 0, 4) == 0x1A2B3C4D && le(body, 4, 2) == 1, "byte order or version");
      option(body.subspan(16), 4);
    } else if (type == 1) {
      same(le(body, 0, 2), 1U, "link type");
      require(option(body.subspan(8), 9) == "\x09", "time stamps are not in nanoseconds");
      all.interfaces.emplace_back(option(body.subspan(8), 2), le(body, 4, 4));
    } else if (type == 6) {
      SlowPacket p;
      p.interface = le(body, 0, 4);
      require(p.interface < all.interfaces.size(), "a packet of no interface");
      p.time = std::uint64_t{le(body, 4, 4)} << 32 | le(body, 8, 4);
      const std::uint32_t captured = le(body, 12, 4);
      p.original = le(body, 16, 4);
      require(padded(captured) <= body.size() - 20, "a packet beyond its block");
      p.octets.assign(body.begin() + 20, body.begin() + 20 + captured);
      const std::string flags = option(body.subspan(20 + padded(captured)), 2);
      same(flags.size(), std::size_t{4}, "flags of a packet");
      p.flags = le({reinterpret_cast<const std::uint8_t*>(flags.data()), 4}, 0, 4);
      all.packets.push_back(std::move(p));
    } else {
      same(type, 5U, "type of a block");
      ++all.statistics;
    }
    at += bytes;
  }
  return all;
}

}  // namespace splitplane::fuzz

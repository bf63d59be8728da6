// Memory on cache lines for tables in tests, zeroed; and tuples by number.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "guard/cookie/four_tuple.h"

namespace splitplane::guard::test {

class TableMemory {
 public:
  explicit TableMemory(std::size_t octets) : octets_(octets), lines_((octets + 63) / 64) {}
  [[nodiscard]] std::span<std::uint8_t> span() { return {reinterpret_cast<std::uint8_t*>(lines_.data()), octets_}; }

 private:
  struct alignas(64) Line {
    std::uint8_t octet[64] = {};
  };
  std::size_t octets_;
  std::vector<Line> lines_;
};

// Different numbers are different tuples: of IPv4, or of IPv6 where `v6`.
inline FourTuple numbered_tuple(std::uint64_t number, bool v6 = false) {
  FourTuple tuple;
  tuple.is_v6 = v6 ? 1 : 0;
  const auto address = static_cast<std::uint32_t>(number >> 16);
  if (v6) {
    tuple.client = {0x20, 0x01, 0x0d, 0xb8};
    std::memcpy(tuple.client.data() + 4, &address, sizeof address);
    tuple.server = {0x20, 0x01, 0x0d, 0xb8, 0xff};
  } else {
    std::memcpy(tuple.client.data(), &address, sizeof address);
    tuple.server = {10, 0, 0, 1};
  }
  tuple.client_port = static_cast<std::uint16_t>(number);
  tuple.server_port = 443;
  return tuple;
}

}  // namespace splitplane::guard::test

// Copies and comparisons of octet strings that are mostly short. They are inline, because a call would cost more than
// the work.
#pragma once

#include <cstdint>
#include <cstring>

namespace splitplane::nicmodel {

// Exactly `n` octets, as a NIC writes them.
inline void copy_octets(std::uint8_t* to, const std::uint8_t* from, std::uint32_t n) {
  if (n < 32 || n > 128) {
    std::memcpy(to, from, n);
    return;
  }
  struct Block {
    std::uint8_t octets[32];
  };
  Block last;
  std::memcpy(&last, from + n - 32, 32);
  for (std::uint32_t at = 0; at + 32 < n; at += 32) std::memcpy(to + at, from + at, 32);
  std::memcpy(to + n - 32, &last, 32);
}

[[nodiscard]] inline bool same_octets(const std::uint8_t* a, const std::uint8_t* b, std::uint32_t n) {
  if (n < 8 || n > 64) return std::memcmp(a, b, n) == 0;
  const auto differ = [a, b](std::uint32_t at) {
    std::uint64_t x = 0;
    std::uint64_t y = 0;
    std::memcpy(&x, a + at, 8);
    std::memcpy(&y, b + at, 8);
    return x ^ y;
  };
  std::uint64_t bits = differ(n - 8);
  for (std::uint32_t at = 0; at + 8 < n; at += 8) bits |= differ(at);
  return bits == 0;
}

}  // namespace splitplane::nicmodel

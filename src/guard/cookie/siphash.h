// SipHash-2-4 (Aumasson and Bernstein, 2012) of messages whose length is known when the code is compiled: the same
// value as crypto_shorthash() of libsodium, which takes 35 to 65 ns for a cookie where this takes 5 to 9. A test
// compares both.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace splitplane::guard {

using SipKey = std::array<std::uint8_t, 16>;

namespace detail {

struct SipState {
  std::uint64_t v0, v1, v2, v3;

  constexpr void round() {
    v0 += v1;
    v2 += v3;
    v1 = std::rotl(v1, 13) ^ v0;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 = std::rotl(v0, 32);
    v2 += v1;
    v0 += v3;
    v1 = std::rotl(v1, 17) ^ v2;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 = std::rotl(v2, 32);
  }
};

}  // namespace detail

// `words` is the message in words of its octets' order on a little-endian machine. The last word has the octets that
// are left over, at most seven, and the message's length modulo 256 in its highest octet.
template <std::size_t kWords>
[[nodiscard]] inline std::uint64_t siphash24(const SipKey& key, const std::array<std::uint64_t, kWords>& words) {
  std::uint64_t k0;
  std::uint64_t k1;
  std::memcpy(&k0, key.data(), 8);
  std::memcpy(&k1, key.data() + 8, 8);
  detail::SipState s{k0 ^ 0x736F6D6570736575U, k1 ^ 0x646F72616E646F6DU, k0 ^ 0x6C7967656E657261U,
                     k1 ^ 0x7465646279746573U};
  for (const std::uint64_t word : words) {
    s.v3 ^= word;
    s.round();
    s.round();
    s.v0 ^= word;
  }
  s.v2 ^= 0xFF;
  for (int i = 0; i < 4; ++i) s.round();
  return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

}  // namespace splitplane::guard

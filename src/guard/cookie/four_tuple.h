// Both ends of a TCP connection as the guard sees it: the client outside, the server that it protects.
#pragma once

#include <array>
#include <cstdint>

namespace splitplane::guard {

// 48 octets, so that hashes and comparisons take whole words.
struct alignas(16) FourTuple {
  std::array<std::uint8_t, 16> client{}, server{};  // network order; IPv4 in the first 4 octets, the rest 0
  std::uint16_t client_port = 0, server_port = 0;   // host order
  std::uint16_t vlan = 0;                           // innermost VLAN identity, 0 without tag
  std::uint8_t is_v6 = 0;
  std::uint8_t spare[9] = {};

  friend bool operator==(const FourTuple&, const FourTuple&) = default;
};
static_assert(sizeof(FourTuple) == 48);

}  // namespace splitplane::guard

// An IP address in 32 bits, to compare a packet's sender with the bearer's UPF. For IPv4 it is the address itself; for
// IPv6 it is the four words folded together. Two IPv6 addresses may share a key. But a sender that can choose its
// address freely can also use the UPF's own.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/ip_address.h"

namespace splitplane::ran {

[[nodiscard]] inline std::uint32_t source_key_v4(const std::uint8_t* octets) {
  std::uint32_t key;
  std::memcpy(&key, octets, 4);
  return key;
}

[[nodiscard]] inline std::uint32_t source_key_v6(const std::uint8_t* octets) {
  std::uint32_t words[4];
  std::memcpy(words, octets, 16);
  return words[0] ^ words[1] ^ words[2] ^ words[3];
}

[[nodiscard]] inline std::uint32_t source_key(const IpAddress& address) {
  return address.is_v6() ? source_key_v6(address.octets().data()) : source_key_v4(address.octets().data());
}

}  // namespace splitplane::ran

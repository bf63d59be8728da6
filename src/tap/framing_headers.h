// Ethernet, IPv4 and UDP headers around a framing of Wireshark for a PDU of the air. The addresses say the direction,
// and the UE's MAC address contains its number.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.h"
#include "wire/bytes.h"

namespace splitplane::tap {

inline constexpr std::uint16_t kFramingPort = 9999;
inline constexpr std::size_t kFramingHeaderBytes = 14 + 20 + 8;
inline constexpr std::size_t kMostFramingPayload = 0xffff - 28;  // framing and PDU: what a UDP datagram can have

// Returns the octets written. `out` has room for kFramingHeaderBytes, and `payload` is at most kMostFramingPayload.
std::size_t write_framing_headers(wire::MutableOctets out, Direction direction, std::uint32_t ue, std::size_t payload);

}  // namespace splitplane::tap

// What an engine is asked to do with one packet. COUNT, BEARER and DIRECTION are the inputs of TS 33.401 Annex B. A
// packet in several segments is not served: its owner makes it one piece first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/types.h"
#include "crypto/key.h"

namespace splitplane::crypto {

inline constexpr std::uint32_t kMaxMessageBytes = 9216;  // a PDCP PDU of 9000 octets of data and what is around it
inline constexpr std::size_t kMacBytes = 4;              // MAC-I (TS 38.323 6.3.4)

inline constexpr std::size_t kReadAfter = 15;  // octets after a message of NIA2 in place

// Enciphers or deciphers: the same operation. `out` is `in`, or the two do not overlap. Any alignment will do.
struct CipherJob {
  const CipherKey* key = nullptr;
  Count count;
  std::uint8_t bearer = 0;  // 5 bits: radio bearer identity - 1
  Direction direction = Direction::kDownlink;
  const std::uint8_t* in = nullptr;
  std::uint8_t* out = nullptr;
  std::uint32_t length = 0;  // octets; 0 is allowed
  // NEA2 and NEA0: the message begins with this block of 16 octets of the key stream. Others refuse all but 0.
  std::uint32_t first_block = 0;
};

struct IntegrityJob {
  const IntegrityKey* key = nullptr;
  Count count;
  std::uint8_t bearer = 0;
  Direction direction = Direction::kDownlink;
  // NIA2 reads 8 octets before the message. True: the 8 octets before `in` are writable and no other job of the burst
  // reads or writes them. The engine overwrites them during the call and restores them. The library then also reads up
  // to kReadAfter octets after the message, whatever they are. False: the engine copies the message, which costs about
  // 20 ns for 1500 octets.
  bool room_before = false;
  const std::uint8_t* in = nullptr;
  std::uint32_t length = 0;                   // octets; NIA4 to NIA6 refuse 0, which no PDCP PDU has
  std::array<std::uint8_t, kMacBytes> mac{};  // the result
};

// Compares in a time that does not depend on where the two differ.
[[nodiscard]] inline bool equal_macs(const std::array<std::uint8_t, kMacBytes>& a, const std::uint8_t* b) {
  unsigned difference = 0;
  for (std::size_t i = 0; i < kMacBytes; ++i) difference |= a[i] ^ static_cast<unsigned>(b[i]);
  return difference == 0;
}

}  // namespace splitplane::crypto

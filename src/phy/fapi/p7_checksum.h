// The checksum of P7, piece by piece: the register of CRC-32 (zlib's polynomial) without the inversion at its end, over
// the header up to the sequence number, four zero octets, and the body of the segment. The timestamp is left out, so a
// sender may write it last. OpenAirInterface and open-nFAPI have this rule.
#pragma once

#include "wire/bytes.h"

namespace splitplane::fapi {

class P7Checksum {
 public:
  // `header` has at least 10 octets.
  explicit P7Checksum(const std::uint8_t* header);

  // Of the body, in order.
  void add(wire::Octets octets);
  [[nodiscard]] std::uint32_t value() const { return ~crc_; }

 private:
  std::uint32_t crc_;  // as zlib has it, inverted
};

}  // namespace splitplane::fapi

// CRC32C (Castagnoli, as in RFC 9260 appendix A), the checksum of P7. It can be computed piece by piece.
#pragma once

#include "wire/bytes.h"

namespace splitplane::fapi {

class Crc32c {
 public:
  void add(wire::Octets octets);
  // Of all octets so far. For "123456789" it is 0xE3069283.
  [[nodiscard]] std::uint32_t value() const { return ~crc_; }

 private:
  std::uint32_t crc_ = 0xFFFFFFFF;
};

}  // namespace splitplane::fapi

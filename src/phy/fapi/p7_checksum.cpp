#include "phy/fapi/p7_checksum.h"

#include <zlib.h>

#include <array>

namespace splitplane::fapi {

P7Checksum::P7Checksum(const std::uint8_t* header) : crc_(0) {
  std::array<std::uint8_t, 14> covered{};  // the last four are those of the checksum
  wire::copy_octets(covered.data(), header, 10);
  add(covered);
}

void P7Checksum::add(wire::Octets octets) {
  if (octets.empty()) return;  // of no octets at no address, zlib would return the value of the start
  crc_ = static_cast<std::uint32_t>(::crc32_z(crc_, octets.data(), octets.size()));
}

}  // namespace splitplane::fapi

#include "phy/fapi/crc32c.h"

#include <array>
#if defined(__SSE4_2__)
#include <nmmintrin.h>
#endif

namespace splitplane::fapi {

#if defined(__SSE4_2__)

void Crc32c::add(wire::Octets octets) {
  const std::uint8_t* p = octets.data();
  std::size_t left = octets.size();
  std::uint64_t crc = crc_;
  for (; left >= 8; left -= 8, p += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, p, 8);
    crc = _mm_crc32_u64(crc, word);
  }
  auto last = static_cast<std::uint32_t>(crc);
  for (; left != 0; --left, ++p) last = _mm_crc32_u8(last, *p);
  crc_ = last;
}

#else

namespace {

constexpr std::array<std::uint32_t, 256> kTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82F63B78U : 0);
    table[i] = crc;
  }
  return table;
}();

}  // namespace

void Crc32c::add(wire::Octets octets) {
  for (const std::uint8_t o : octets) crc_ = crc_ >> 8 ^ kTable[(crc_ ^ o) & 0xFF];
}

#endif

}  // namespace splitplane::fapi

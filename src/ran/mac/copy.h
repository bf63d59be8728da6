// Copies payload octets into a transport block. The sizes of user data are known at run time only, most are small, and
// a call of memcpy() costs as much as the copy of a small one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

namespace splitplane::ran::mac {

namespace detail {

// Two loads, then two stores; for Bytes to 2 * Bytes octets the two overlap.
template <std::size_t Bytes>
inline void copy_both_ends(std::uint8_t* to, const std::uint8_t* from, std::size_t octets) {
  std::uint8_t first[Bytes], last[Bytes];
  std::memcpy(first, from, Bytes);
  std::memcpy(last, from + octets - Bytes, Bytes);
  std::memcpy(to, first, Bytes);
  std::memcpy(to + octets - Bytes, last, Bytes);
}

inline void copy_few(std::uint8_t* to, const std::uint8_t* from, std::size_t octets) {
  if (octets >= 16) return copy_both_ends<16>(to, from, octets);
  if (octets >= 8) return copy_both_ends<8>(to, from, octets);
  if (octets >= 4) return copy_both_ends<4>(to, from, octets);
  if (octets >= 2) return copy_both_ends<2>(to, from, octets);
  if (octets == 1) *to = *from;
}

}  // namespace detail

// Reads and writes `octets` octets and no octet beside them; the two do not overlap.
inline void copy_payload(std::uint8_t* to, const std::uint8_t* from, std::size_t octets) {
#if defined(__AVX512BW__)
  constexpr std::size_t kLine = 64;
  if (octets <= kLine) {
    const __mmask64 mask = octets == 0 ? 0 : ~std::uint64_t{0} >> (kLine - octets);
    _mm512_mask_storeu_epi8(to, mask, _mm512_maskz_loadu_epi8(mask, from));
    return;
  }
  const __m512i last = _mm512_loadu_si512(from + octets - kLine);
  std::uint8_t* const last_at = to + octets - kLine;
  if (octets >= 8 * kLine) {  // a store over the border of two lines costs two
    _mm512_storeu_si512(to, _mm512_loadu_si512(from));
    const std::size_t ahead = kLine - reinterpret_cast<std::uintptr_t>(to) % kLine;
    to += ahead;
    from += ahead;
    octets -= ahead;
  }
  for (; octets > 4 * kLine; octets -= 4 * kLine, to += 4 * kLine, from += 4 * kLine) {
    const __m512i a = _mm512_loadu_si512(from), b = _mm512_loadu_si512(from + kLine);
    const __m512i c = _mm512_loadu_si512(from + 2 * kLine), d = _mm512_loadu_si512(from + 3 * kLine);
    _mm512_storeu_si512(to, a);
    _mm512_storeu_si512(to + kLine, b);
    _mm512_storeu_si512(to + 2 * kLine, c);
    _mm512_storeu_si512(to + 3 * kLine, d);
  }
  for (; octets > kLine; octets -= kLine, to += kLine, from += kLine) {
    _mm512_storeu_si512(to, _mm512_loadu_si512(from));
  }
  _mm512_storeu_si512(last_at, last);
#else
  if (octets <= 32) return detail::copy_few(to, from, octets);
  if (octets <= 64) return detail::copy_both_ends<32>(to, from, octets);
  if (octets <= 128) return detail::copy_both_ends<64>(to, from, octets);
  std::memcpy(to, from, octets);
#endif
}

}  // namespace splitplane::ran::mac

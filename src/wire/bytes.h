// Big-endian loads and stores on octets, and the spans that every parser and writer of wire/ takes. The host uses one
// memcpy and one bswap (a single movbe). Constant expressions and devices use shifts. No alignment is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "base/host_device.h"

namespace splitplane::wire {

using Octets = std::span<const std::uint8_t>;
using MutableOctets = std::span<std::uint8_t>;

namespace detail {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "loads and stores below swap octets");

[[nodiscard]] constexpr std::uint16_t swapped(std::uint16_t v) {
  return __builtin_bswap16(v);
}
[[nodiscard]] constexpr std::uint32_t swapped(std::uint32_t v) {
  return __builtin_bswap32(v);
}
[[nodiscard]] constexpr std::uint64_t swapped(std::uint64_t v) {
  return __builtin_bswap64(v);
}

// GCC splits shifts when some octets are constants, so memcpy is used wherever possible.
template <class Word>
[[nodiscard]] SPLITPLANE_HD constexpr Word load(const std::uint8_t* p) {
#if !defined(__CUDA_ARCH__)
  if (!std::is_constant_evaluated()) {
    Word v;
    std::memcpy(&v, p, sizeof(v));
    return swapped(v);
  }
#endif
  Word v = 0;
  for (std::size_t i = 0; i < sizeof(Word); ++i) v = static_cast<Word>((v << 8) | p[i]);
  return v;
}

template <class Word>
SPLITPLANE_HD constexpr void store(std::uint8_t* p, Word v) {
#if !defined(__CUDA_ARCH__)
  if (!std::is_constant_evaluated()) {
    v = swapped(v);
    std::memcpy(p, &v, sizeof(v));
    return;
  }
#endif
  for (std::size_t i = sizeof(Word); i-- > 0; v = static_cast<Word>(v >> 8)) p[i] = static_cast<std::uint8_t>(v);
}

}  // namespace detail

[[nodiscard]] SPLITPLANE_HD constexpr std::uint16_t load_be16(const std::uint8_t* p) {
  return detail::load<std::uint16_t>(p);
}
[[nodiscard]] SPLITPLANE_HD constexpr std::uint32_t load_be24(const std::uint8_t* p) {
  return (static_cast<std::uint32_t>(p[0]) << 16) | load_be16(p + 1);
}
[[nodiscard]] SPLITPLANE_HD constexpr std::uint32_t load_be32(const std::uint8_t* p) {
  return detail::load<std::uint32_t>(p);
}
[[nodiscard]] SPLITPLANE_HD constexpr std::uint64_t load_be64(const std::uint8_t* p) {
  return detail::load<std::uint64_t>(p);
}

// Stores the low 16 (24, 32, 64) bits.
SPLITPLANE_HD constexpr void store_be16(std::uint8_t* p, std::uint32_t v) {
  detail::store(p, static_cast<std::uint16_t>(v));
}
SPLITPLANE_HD constexpr void store_be24(std::uint8_t* p, std::uint32_t v) {
  p[0] = static_cast<std::uint8_t>(v >> 16);
  store_be16(p + 1, v);
}
SPLITPLANE_HD constexpr void store_be32(std::uint8_t* p, std::uint32_t v) {
  detail::store(p, v);
}
SPLITPLANE_HD constexpr void store_be64(std::uint8_t* p, std::uint64_t v) {
  detail::store(p, v);
}

// memcpy and memset to 0 that also work in constant expressions.
SPLITPLANE_HD constexpr void copy_octets(std::uint8_t* to, const std::uint8_t* from, std::size_t octets) {
  if (std::is_constant_evaluated()) {
    for (std::size_t i = 0; i < octets; ++i) to[i] = from[i];
  } else if (octets != 0) {
    std::memcpy(to, from, octets);
  }
}
SPLITPLANE_HD constexpr void fill_zero(std::uint8_t* to, std::size_t octets) {
  if (std::is_constant_evaluated()) {
    for (std::size_t i = 0; i < octets; ++i) to[i] = 0;
  } else if (octets != 0) {
    std::memset(to, 0, octets);
  }
}

}  // namespace splitplane::wire

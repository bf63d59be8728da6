// Numbers of 1 to 8 octets in network byte order, as the fields of headers are. Compiled programs read and write frames
// with these only.
#pragma once

#include <cstdint>
#include <cstring>

namespace splitplane::nic::compiled {

template <unsigned kBytes>
[[nodiscard]] inline std::uint64_t load(const std::uint8_t* at) {
  static_assert(kBytes >= 1 && kBytes <= 8);
  if constexpr (kBytes == 1) {
    return *at;
  } else if constexpr (kBytes == 2) {
    std::uint16_t v;
    std::memcpy(&v, at, 2);
    return __builtin_bswap16(v);
  } else if constexpr (kBytes == 4) {
    std::uint32_t v;
    std::memcpy(&v, at, 4);
    return __builtin_bswap32(v);
  } else if constexpr (kBytes == 8) {
    std::uint64_t v;
    std::memcpy(&v, at, 8);
    return __builtin_bswap64(v);
  } else {
    constexpr unsigned kFirst = kBytes > 4 ? 4 : 2;
    return load<kFirst>(at) << 8 * (kBytes - kFirst) | load<kBytes - kFirst>(at + kFirst);
  }
}

// The low octets of `value`.
template <unsigned kBytes>
inline void store(std::uint8_t* at, std::uint64_t value) {
  static_assert(kBytes >= 1 && kBytes <= 8);
  if constexpr (kBytes == 1) {
    *at = static_cast<std::uint8_t>(value);
  } else if constexpr (kBytes == 2) {
    const std::uint16_t v = __builtin_bswap16(static_cast<std::uint16_t>(value));
    std::memcpy(at, &v, 2);
  } else if constexpr (kBytes == 4) {
    const std::uint32_t v = __builtin_bswap32(static_cast<std::uint32_t>(value));
    std::memcpy(at, &v, 4);
  } else if constexpr (kBytes == 8) {
    const std::uint64_t v = __builtin_bswap64(value);
    std::memcpy(at, &v, 8);
  } else {
    constexpr unsigned kFirst = kBytes > 4 ? 4 : 2;
    store<kFirst>(at, value >> 8 * (kBytes - kFirst));
    store<kBytes - kFirst>(at + kFirst, value);
  }
}

// In host byte order, as the fields of metadata.
template <unsigned kBytes>
inline void store_host(std::uint8_t* at, std::uint64_t value) {
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  std::memcpy(at, &value, kBytes);
}

}  // namespace splitplane::nic::compiled

// What the library needs of a key, in octets: AES round keys with the subkeys of CMAC behind them, or the key itself.
#pragma once

#include <cstddef>

#include "crypto/algorithm.h"

namespace splitplane::crypto::key_layout {

inline constexpr std::size_t kAes128Bytes = 11 * 16;
inline constexpr std::size_t kAes256Bytes = 15 * 16;
inline constexpr std::size_t kCmacSubkey1 = kAes128Bytes;  // K1 and K2 of SP 800-38B
inline constexpr std::size_t kCmacSubkey2 = kAes128Bytes + 16;

[[nodiscard]] constexpr std::size_t bytes(CipherAlgorithm algorithm) {
  constexpr std::size_t kBytes[kCipherAlgorithmCount] = {0, 16, kAes128Bytes, 16, 32, kAes256Bytes, 32};
  return kBytes[static_cast<std::size_t>(algorithm)];
}

[[nodiscard]] constexpr std::size_t bytes(IntegrityAlgorithm algorithm) {
  constexpr std::size_t kBytes[kIntegrityAlgorithmCount] = {0, 16, kAes128Bytes + 32, 16, 32, kAes256Bytes, 32};
  return kBytes[static_cast<std::size_t>(algorithm)];
}

}  // namespace splitplane::crypto::key_layout

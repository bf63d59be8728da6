// The ciphering and integrity algorithms of 5G (TS 33.501 Annex D), and which of them this build offers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/expected.h"
#include "base/outcome_list.h"

namespace splitplane::crypto {

#define SPLITPLANE_CIPHER_ALGORITHMS(X)    \
  X(nea0, "no ciphering")                  \
  X(nea1, "SNOW 3G")                       \
  X(nea2, "AES in counter mode")           \
  X(nea3, "ZUC")                           \
  X(nea4, "SNOW 5G, 256 bits")             \
  X(nea5, "AES in counter mode, 256 bits") \
  X(nea6, "ZUC, 256 bits")
SPLITPLANE_OUTCOMES(CipherAlgorithm, SPLITPLANE_CIPHER_ALGORITHMS)

#define SPLITPLANE_INTEGRITY_ALGORITHMS(X) \
  X(nia0, "no integrity protection")       \
  X(nia1, "SNOW 3G")                       \
  X(nia2, "AES, CMAC")                     \
  X(nia3, "ZUC")                           \
  X(nia4, "SNOW 5G, 256 bits")             \
  X(nia5, "AES, 256 bits")                 \
  X(nia6, "ZUC, 256 bits")
SPLITPLANE_OUTCOMES(IntegrityAlgorithm, SPLITPLANE_INTEGRITY_ALGORITHMS)

// The algorithm with that name, such as "nea2", if this build offers it; otherwise a sentence that says why not.
[[nodiscard]] Expected<CipherAlgorithm> find_cipher_algorithm(std::string_view name);
[[nodiscard]] Expected<IntegrityAlgorithm> find_integrity_algorithm(std::string_view name);

// Nothing, or a sentence that says why this build does not offer the algorithm.
[[nodiscard]] Expected<void> check_offered(CipherAlgorithm algorithm);
[[nodiscard]] Expected<void> check_offered(IntegrityAlgorithm algorithm);

// Octets of a key: 0, 16 or 32.
[[nodiscard]] std::size_t key_bytes(CipherAlgorithm algorithm);
[[nodiscard]] std::size_t key_bytes(IntegrityAlgorithm algorithm);

}  // namespace splitplane::crypto

#include "crypto/algorithm.h"

#include <algorithm>

#include "crypto/manager.h"

namespace splitplane::crypto {
namespace {

template <class Algorithm>
constexpr std::size_t number(Algorithm algorithm) {
  return static_cast<std::size_t>(algorithm);
}

template <class Algorithm>
Expected<void> offered(Algorithm algorithm) {
  if (number(algorithm) <= 3 || Manager::kHas256Bit) return {};
  return fail(
      "{} needs an intel-ipsec-mb with the 256-bit algorithms; version {}, which this program was built with, has none",
      name_of(algorithm), Manager::built_with());
}

template <class Algorithm, std::size_t kCount>
Expected<Algorithm> find(std::string_view name, const std::array<std::string_view, kCount>& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return fail("'{}' is no algorithm; allowed: {} to {}", name, names.front(), names.back());
  const auto algorithm = static_cast<Algorithm>(found - names.begin());
  if (const auto known = offered(algorithm); !known) return tl::unexpected(known.error());
  return algorithm;
}

std::size_t bytes_of_generation(std::size_t number) {
  if (number == 0) return 0;
  return number <= 3 ? 16 : 32;
}

}  // namespace

Expected<CipherAlgorithm> find_cipher_algorithm(std::string_view name) {
  return find<CipherAlgorithm>(name, kCipherAlgorithmNames);
}
Expected<IntegrityAlgorithm> find_integrity_algorithm(std::string_view name) {
  return find<IntegrityAlgorithm>(name, kIntegrityAlgorithmNames);
}

Expected<void> check_offered(CipherAlgorithm algorithm) {
  return offered(algorithm);
}
Expected<void> check_offered(IntegrityAlgorithm algorithm) {
  return offered(algorithm);
}

std::size_t key_bytes(CipherAlgorithm algorithm) {
  return bytes_of_generation(number(algorithm));
}
std::size_t key_bytes(IntegrityAlgorithm algorithm) {
  return bytes_of_generation(number(algorithm));
}

}  // namespace splitplane::crypto

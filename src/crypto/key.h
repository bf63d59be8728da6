// Keys, expanded for their algorithm, as the packet path uses them. A KeyStore makes them and keeps them in its memory.
// A key cannot be copied or printed: it has no operator<<, no formatter, and no member that returns its octets.
#pragma once

#include <cstddef>
#include <cstdint>

#include "crypto/algorithm.h"

namespace splitplane::crypto {

// A cache line that says the algorithm and begins the schedule; the rest of the schedule lies in the lines after it.
template <class AlgorithmType>
class alignas(64) Key {
 public:
  using Algorithm = AlgorithmType;
  static constexpr std::size_t kLine = 64;

  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;

  [[nodiscard]] Algorithm algorithm() const { return algorithm_; }

  // Fetches the key before the burst that needs it. An engine does so too, but knows the key later than its caller.
  void prefetch() const {
    const auto* const at = reinterpret_cast<const std::byte*>(this);
    for (std::size_t line = 0; line < kMaxLines; ++line) __builtin_prefetch(at + line * kLine);
  }

 private:
  friend class KeyStore;
  friend class Engine;

  static constexpr std::size_t kMaxLines = 4;
  static constexpr std::size_t kHeaderBytes = 16;  // the library wants schedules at multiples of 16

  explicit Key(Algorithm algorithm) : algorithm_(algorithm) {}
  ~Key() = default;

  [[nodiscard]] const std::uint8_t* schedule() const {
    return reinterpret_cast<const std::uint8_t*>(this) + kHeaderBytes;
  }
  [[nodiscard]] std::uint8_t* schedule() { return reinterpret_cast<std::uint8_t*>(this) + kHeaderBytes; }

  Algorithm algorithm_;
};

using CipherKey = Key<CipherAlgorithm>;
using IntegrityKey = Key<IntegrityAlgorithm>;

}  // namespace splitplane::crypto

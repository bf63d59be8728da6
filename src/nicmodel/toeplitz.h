// The Toeplitz hash of receive side scaling (82599 datasheet 7.1.2.8.1; Microsoft's "RSS hashing functions"), by a
// table for each octet of the input: one load and one exclusive-or for each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace splitplane::nicmodel {

inline constexpr std::size_t kRssKeyBytes = 40;
using RssKey = std::array<std::uint8_t, kRssKeyBytes>;

class Toeplitz {
 public:
  static constexpr std::size_t kMostInput = 36;  // two IPv6 addresses and two ports

  explicit Toeplitz(const RssKey& key) : table_(kMostInput * 256) {
    for (std::size_t octet = 0; octet < kMostInput; ++octet) {
      for (std::uint32_t value = 0; value < 256; ++value) {
        std::uint32_t hash = 0;
        for (std::size_t bit = 0; bit < 8; ++bit) {
          if ((value & 0x80U >> bit) != 0) hash ^= window(key, octet * 8 + bit);
        }
        table_[octet * 256 + value] = hash;
      }
    }
  }

  // Of `n` <= kMostInput octets: addresses, then ports, in the order of the packet.
  template <std::size_t N>
  [[nodiscard]] std::uint32_t hash(const std::uint8_t* input) const {
    static_assert(N <= kMostInput);
    std::uint32_t result = 0;
    for (std::size_t i = 0; i < N; ++i) result ^= table_[i * 256 + input[i]];
    return result;
  }

 private:
  // 32 bits of the key from bit `at` on.
  static std::uint32_t window(const RssKey& key, std::size_t at) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      bits = bits << 8 | (at / 8 + i < kRssKeyBytes ? key[at / 8 + i] : 0U);
    }
    return static_cast<std::uint32_t>(bits >> (8 - at % 8));
  }
  std::vector<std::uint32_t> table_;
};

}  // namespace splitplane::nicmodel

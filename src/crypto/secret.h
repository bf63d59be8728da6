// The octets of a key on their way from a request or a file to the key store. They are wiped when the object ends.
// There is no way to print them: no operator<<, no formatter, no conversion to text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/expected.h"

namespace splitplane::crypto {

class Secret {
 public:
  static constexpr std::size_t kMaxBytes = 32;

  // No key: for NEA0 and NIA0.
  Secret() = default;
  // From 32 or 64 hexadecimal digits. The error does not repeat the text. The caller wipes the text.
  [[nodiscard]] static Expected<Secret> from_hex(std::string_view hex);
  // Copies 16 or 32 octets; the caller wipes its own.
  [[nodiscard]] static Expected<Secret> from_octets(std::span<const std::uint8_t> octets);

  Secret(Secret&& other) noexcept;
  Secret& operator=(Secret&& other) noexcept;
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret();

  [[nodiscard]] std::size_t size() const { return bytes_; }

 private:
  friend class KeyStore;

  void take(Secret& other);

  alignas(16) std::array<std::uint8_t, kMaxBytes> octets_{};
  std::size_t bytes_ = 0;
};

}  // namespace splitplane::crypto

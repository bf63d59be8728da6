#include "crypto/secret.h"

#include <string.h>

#include <algorithm>

namespace splitplane::crypto {
namespace {

constexpr bool is_key_size(std::size_t bytes) {
  return bytes == 16 || bytes == 32;
}

int value_of(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

}  // namespace

Expected<Secret> Secret::from_hex(std::string_view hex) {
  Secret secret;
  bool sound = hex.size() % 2 == 0 && is_key_size(hex.size() / 2);
  for (std::size_t i = 0; sound && i < hex.size() / 2; ++i) {
    const int high = value_of(hex[2 * i]), low = value_of(hex[2 * i + 1]);
    sound = high >= 0 && low >= 0;
    secret.octets_[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  if (!sound) return fail("a key is 32 or 64 hexadecimal digits");
  secret.bytes_ = hex.size() / 2;
  return secret;
}

Expected<Secret> Secret::from_octets(std::span<const std::uint8_t> octets) {
  if (!is_key_size(octets.size())) return fail("a key is 16 or 32 octets, not {}", octets.size());
  Secret secret;
  std::copy(octets.begin(), octets.end(), secret.octets_.begin());
  secret.bytes_ = octets.size();
  return secret;
}

Secret::Secret(Secret&& other) noexcept {
  take(other);
}

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this != &other) take(other);
  return *this;
}

Secret::~Secret() {
  ::explicit_bzero(octets_.data(), octets_.size());
}

void Secret::take(Secret& other) {
  octets_ = other.octets_;
  bytes_ = other.bytes_;
  ::explicit_bzero(other.octets_.data(), other.octets_.size());
  other.bytes_ = 0;
}

}  // namespace splitplane::crypto

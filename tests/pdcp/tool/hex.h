// Octets as the steps of tests/pdcp/protocol.md write them.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace splitplane::pdcp_tool {

inline std::string to_hex(std::span<const std::uint8_t> octets) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(2 * octets.size());
  for (const std::uint8_t octet : octets) {
    out += kDigits[octet >> 4];
    out += kDigits[octet & 15];
  }
  return out;
}

inline std::vector<std::uint8_t> from_hex(std::string_view text) {
  const auto nibble = [](char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    throw std::invalid_argument("octets are lower case hexadecimal digits");
  };
  if (text.size() % 2 != 0) throw std::invalid_argument("half an octet");
  std::vector<std::uint8_t> out(text.size() / 2);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<std::uint8_t>(nibble(text[2 * i]) << 4 | nibble(text[2 * i + 1]));
  }
  return out;
}

}  // namespace splitplane::pdcp_tool

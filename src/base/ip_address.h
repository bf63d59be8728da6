// An IPv4 or IPv6 address of the control path (configuration, peers, UE addresses). Octets are in network order.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/expected.h"

namespace splitplane {

class IpAddress {
 public:
  IpAddress() = default;
  static IpAddress v4(std::array<std::uint8_t, 4> octets);
  static IpAddress v6(std::array<std::uint8_t, 16> octets);
  // Reads dotted-quad or RFC 4291 text. The error names the text that is no address.
  static Expected<IpAddress> parse(std::string_view text);

  [[nodiscard]] bool is_v6() const { return is_v6_; }
  [[nodiscard]] const std::array<std::uint8_t, 16>& octets() const { return octets_; }  // v4: the first four
  [[nodiscard]] std::string to_string() const;
  // The address that is `n` higher (whole-address arithmetic, wraps): for groups of UEs.
  [[nodiscard]] IpAddress plus(std::uint64_t n) const;
  friend bool operator==(const IpAddress&, const IpAddress&) = default;

 private:
  std::array<std::uint8_t, 16> octets_{};
  bool is_v6_ = false;
};

struct MacAddress {
  std::array<std::uint8_t, 6> octets{};
  static Expected<MacAddress> parse(std::string_view text);  // "02:00:00:00:00:01"
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const MacAddress&, const MacAddress&) = default;
};

}  // namespace splitplane

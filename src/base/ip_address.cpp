#include "base/ip_address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace splitplane {

IpAddress IpAddress::v4(std::array<std::uint8_t, 4> octets) {
  IpAddress a;
  std::copy(octets.begin(), octets.end(), a.octets_.begin());
  return a;
}

IpAddress IpAddress::v6(std::array<std::uint8_t, 16> octets) {
  IpAddress a;
  a.octets_ = octets;
  a.is_v6_ = true;
  return a;
}

Expected<IpAddress> IpAddress::parse(std::string_view text) {
  const std::string copy(text);
  IpAddress a;
  a.is_v6_ = text.find(':') != std::string_view::npos;
  if (inet_pton(a.is_v6_ ? AF_INET6 : AF_INET, copy.c_str(), a.octets_.data()) != 1) {
    return fail("'{}' is no IP address; allowed are forms such as 10.0.0.1 or fd00::1", text);
  }
  return a;
}

std::string IpAddress::to_string() const {
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(is_v6_ ? AF_INET6 : AF_INET, octets_.data(), text, sizeof text);
  return text;
}

IpAddress IpAddress::plus(std::uint64_t n) const {
  IpAddress a = *this;
  for (int i = is_v6_ ? 15 : 3; i >= 0 && n != 0; --i) {
    n += a.octets_[static_cast<std::size_t>(i)];
    a.octets_[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(n);
    n >>= 8;
  }
  return a;
}

Expected<MacAddress> MacAddress::parse(std::string_view text) {
  MacAddress mac;
  bool good = text.size() == 17;
  for (std::size_t i = 0; good && i < 6; ++i) {
    const char* at = text.data() + 3 * i;
    const auto [end, error] = std::from_chars(at, at + 2, mac.octets[i], 16);
    good = error == std::errc{} && end == at + 2 && (i == 5 || at[2] == ':');
  }
  if (!good) return fail("'{}' is no MAC address; allowed is the form 02:00:00:00:00:01", text);
  return mac;
}

std::string MacAddress::to_string() const {
  return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", octets[0], octets[1], octets[2], octets[3], octets[4],
                     octets[5]);
}

}  // namespace splitplane

#include "guard/config/server_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace splitplane::app {
namespace {

constexpr const char* kAddressAllowed = "an address such as 10.0.0.1, or a prefix such as 10.0.0.0/24 or fd00::/64";
constexpr const char* kPortsAllowed = "a TCP port such as 443, or a range such as 8000-8099";

// All of `text`, as a decimal number; false: it is none, or above `most`.
bool take_number(std::string_view text, unsigned most, unsigned& into) {
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, into);
  return !text.empty() && read.ec == std::errc{} && read.ptr == end && into <= most;
}

// The address with its first `bits` bits, and zeros behind them.
std::array<std::uint8_t, 16> leading(const IpAddress& address, unsigned bits) {
  std::array<std::uint8_t, 16> octets{};
  for (unsigned i = 0; i < octets.size() && 8 * i < bits; ++i) {
    const unsigned left = std::min(bits - 8 * i, 8U);
    octets[i] = static_cast<std::uint8_t>(address.octets()[i] & (0xff00U >> left));
  }
  return octets;
}

IpAddress with_octets(const IpAddress& like, const std::array<std::uint8_t, 16>& octets) {
  return like.is_v6() ? IpAddress::v6(octets) : IpAddress::v4({octets[0], octets[1], octets[2], octets[3]});
}

// Where no TCP server can be. A whole prefix may begin with zeros.
bool of_no_host(const guard::ServerRule& rule) {
  const auto& o = rule.address.octets();
  const bool multicast = rule.address.is_v6() ? o[0] == 0xff : o[0] >= 224;
  const bool is_zero = std::ranges::all_of(o, [](std::uint8_t octet) { return octet == 0; });
  return multicast || (is_zero && rule.prefix == (rule.address.is_v6() ? 128 : 32));
}

}  // namespace

Expected<void> take_address(std::string_view text, guard::ServerRule& rule) {
  const std::size_t slash = text.find('/');
  const auto address = IpAddress::parse(text.substr(0, slash));
  if (!address) return fail("'{}' is no address; allowed: {}", printable(text), kAddressAllowed);
  const unsigned most = address->is_v6() ? 128 : 32;
  unsigned bits = most;
  if (slash != std::string_view::npos && !take_number(text.substr(slash + 1), most, bits))
    return fail("'{}' has no prefix of 0 to {} bits; allowed: {}", printable(text), most, kAddressAllowed);
  const IpAddress first = with_octets(*address, leading(*address, bits));
  if (first != *address) {
    return fail("'{}' has bits behind its prefix; allowed: {}/{}", printable(text), first.to_string(), bits);
  }
  guard::ServerRule made = rule;
  made.address = *address;
  made.prefix = static_cast<std::uint8_t>(bits);
  if (of_no_host(made)) return fail("'{}' is no address of a host; allowed: a unicast address", printable(text));
  rule = made;
  return {};
}

Expected<void> take_ports(std::string_view text, guard::ServerRule& rule) {
  const std::size_t dash = text.find('-');
  unsigned first = 0, last = 0;
  const bool good = take_number(text.substr(0, dash), 0xFFFF, first) &&
                    (dash == std::string_view::npos || take_number(text.substr(dash + 1), 0xFFFF, last));
  if (dash == std::string_view::npos) last = first;
  if (!good || first > last) return fail("'{}' is no port; allowed: {}", printable(text), kPortsAllowed);
  rule.first_port = static_cast<std::uint16_t>(first);
  rule.last_port = static_cast<std::uint16_t>(last);
  return {};
}

std::string address_text(const guard::ServerRule& rule) {
  const unsigned whole = rule.address.is_v6() ? 128 : 32;
  return rule.prefix == whole ? rule.address.to_string() : fmt::format("{}/{}", rule.address.to_string(), rule.prefix);
}

std::string ports_text(const guard::ServerRule& rule) {
  return rule.first_port == rule.last_port ? fmt::format("{}", rule.first_port)
                                           : fmt::format("{}-{}", rule.first_port, rule.last_port);
}

bool same_place(const guard::ServerRule& a, const guard::ServerRule& b) {
  return a.address == b.address && a.prefix == b.prefix && a.first_port == b.first_port && a.last_port == b.last_port;
}

}  // namespace splitplane::app

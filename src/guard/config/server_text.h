// A protected server as people write it, in a file, a request or on a command line, and the rule that is made of it.
#pragma once

#include <string>
#include <string_view>

#include "base/expected.h"
#include "guard/rules/servers.h"

namespace splitplane::app {

// Sets address and prefix of `rule`: "10.0.0.1", "10.0.0.0/24", "fd00::/64". Error: what is wrong; what is allowed
// (without the key).
[[nodiscard]] Expected<void> take_address(std::string_view text, guard::ServerRule& rule);
// Sets both ports of `rule`: "443", or "8000-8099".
[[nodiscard]] Expected<void> take_ports(std::string_view text, guard::ServerRule& rule);

// As take_address() and take_ports() read them. All ports: "0-65535".
[[nodiscard]] std::string address_text(const guard::ServerRule& rule);
[[nodiscard]] std::string ports_text(const guard::ServerRule& rule);

// Whether both name the same addresses and ports.
[[nodiscard]] bool same_place(const guard::ServerRule& a, const guard::ServerRule& b);

}  // namespace splitplane::app

// The servers that a guard protects: rules from the configuration and from `ctl guard`, and a line of numbers for each.
// A worker has its own copy; commands change it between two rounds.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/counter.h"
#include "base/ip_address.h"
#include "guard/arming/arming.h"
#include "guard/mode.h"

namespace splitplane::guard {

inline constexpr std::size_t kMaxServers = 64;

// Addresses and ports of one protected server, or of a range of them.
struct ServerRule {
  std::string name;  // unique
  IpAddress address;
  std::uint8_t prefix = 32;  // leading bits that count; 128 for one IPv6 address
  std::uint16_t first_port = 0, last_port = 0xFFFF;
  Mode mode = Mode::kAuth;
  Arm arm = Arm::kAuto;
  ArmingSettings arming;
  // What the server's SYN-ACK says; learnt from its SYN-ACKs where absent.
  std::optional<std::uint16_t> mss;
  std::optional<std::uint8_t> window_scale;
};

}  // namespace splitplane::guard

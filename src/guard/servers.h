// The servers that a guard protects: rules from the configuration and from `ctl guard`, and what a worker knows of
// each. A worker has its own copy; commands change it between two rounds.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/expected.h"
#include "base/ip_address.h"
#include "guard/arming/arming.h"
#include "guard/mode.h"
#include "guard/token_bucket.h"

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

// A protected server on one worker.
struct ProtectedServer {
  static constexpr std::uint8_t kNoScale = 0xFF;

  Mode mode = Mode::kBypass;
  bool acts = false;                              // in mode auth or proxy, and armed
  bool learns_mss = false, learns_scale = false;  // the rule does not say them
  std::uint8_t scale = kNoScale;                  // of the server; kNoScale: not known, or it has none
  std::uint16_t mss = 0;                          // of the server; 0: not known
  TokenBucket unproven;                           // segments of unknown sources that are no SYN
  // Since the last decision about arming.
  std::uint64_t unknown_syns = 0, new_sources = 0;
  Arming arming{ArmingSettings{}};
  ServerRule rule;

  // As rule and arming say.
  void decide() {
    acts = (mode == Mode::kAuth || mode == Mode::kProxy) && (rule.arm == Arm::kAlways || arming.armed());
  }
};

// The rules of one worker, by index and by address.
class ServerList {
 public:
  static constexpr std::uint16_t kNone = 0xFFFF;

  explicit ServerList(std::uint32_t unproven_per_second = 10'000) : unproven_per_second_(unproven_per_second) {}

  // Adds a rule, or changes the one of this name: what was learnt and whether it is armed stays. Returns its index,
  // which stays until it is removed. Refused: more than kMaxServers, a prefix or ports that cannot be.
  Expected<std::uint16_t> put(const ServerRule& rule);
  // False: no rule of this name.
  bool remove(std::string_view name);
  [[nodiscard]] std::uint16_t find(std::string_view name) const;  // or kNone

  // The rule with the longest prefix that fits, then the fewest ports; kNone: not protected. Address in network order.
  [[nodiscard]] std::uint16_t match(bool is_v6, const std::uint8_t* address, std::uint16_t port) const;
  // As match(), whatever the port is: for fragments without ports.
  [[nodiscard]] std::uint16_t match_address(bool is_v6, const std::uint8_t* address) const;

  [[nodiscard]] ProtectedServer& at(std::uint16_t index) { return *servers_[index]; }
  [[nodiscard]] const ProtectedServer& at(std::uint16_t index) const { return *servers_[index]; }
  // Indexes in use.
  [[nodiscard]] std::span<const std::uint16_t> used() const { return used_; }

 private:
  struct Line4 {
    std::uint32_t address = 0, mask = 0;
    std::uint16_t first_port = 0, last_port = 0, index = 0;
  };
  struct Line6 {
    std::array<std::uint64_t, 2> address{}, mask{};
    std::uint16_t first_port = 0, last_port = 0, index = 0;
  };
  void sort_lines();

  std::uint32_t unproven_per_second_;
  std::vector<Line4> v4_;
  std::vector<Line6> v6_;
  std::array<std::optional<ProtectedServer>, kMaxServers> servers_;
  std::vector<std::uint16_t> used_;
};

}  // namespace splitplane::guard

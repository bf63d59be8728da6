// The servers that a guard protects: rules from the configuration and from `ctl guard`, and what a worker knows of
// each. A worker has its own copy; commands change it between two rounds.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "base/ip_address.h"
#include "guard/arming/arming.h"
#include "guard/rules/mode.h"
#include "guard/rules/token_bucket.h"
#include "wire/bytes.h"

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
  // What the server's TCP has, as far as is known. Most have all but ECN, which is not told to a client on suspicion.
  bool has_timestamps = true, has_scale = true, has_sack = true, has_ecn = false;
  TokenBucket unproven;  // segments of unknown sources that are no SYN
  // Since the last decision about arming.
  std::uint64_t unknown_syns = 0, new_sources = 0, capped_syns = 0;
  Arming arming{ArmingSettings{}};
  ServerRule rule;

  // What mode proxy tells clients in the server's name: most of today's servers have 7.
  [[nodiscard]] std::uint8_t told_scale() const { return scale == kNoScale ? std::uint8_t{7} : scale; }
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
  [[nodiscard]] std::uint16_t match(bool is_v6, const std::uint8_t* address, std::uint16_t port) const {
    return is_v6 ? first_of(v6_, address, port) : first_of(v4_, address, port);
  }
  // As match(), whatever the port is, for packets that do not show one; a rule whose guard acts goes first.
  [[nodiscard]] std::uint16_t match_address(bool is_v6, const std::uint8_t* address) const;

  [[nodiscard]] ProtectedServer& at(std::uint16_t index) { return *servers_[index]; }
  [[nodiscard]] const ProtectedServer& at(std::uint16_t index) const { return *servers_[index]; }
  // Indexes in use.
  [[nodiscard]] std::span<const std::uint16_t> used() const { return used_; }

 private:
  // Rules as match() reads them, the best first.
  struct Line4 {
    std::uint32_t address = 0, mask = 0;
    std::uint16_t first_port = 0, last_port = 0, index = 0;

    [[nodiscard]] bool fits(const std::uint8_t* octets) const { return (wire::load_be32(octets) & mask) == address; }
  };
  struct Line6 {
    std::array<std::uint64_t, 2> address{}, mask{};
    std::uint16_t first_port = 0, last_port = 0, index = 0;

    [[nodiscard]] bool fits(const std::uint8_t* octets) const {
      return (wire::load_be64(octets) & mask[0]) == address[0] && (wire::load_be64(octets + 8) & mask[1]) == address[1];
    }
  };
  template <class Line>
  [[nodiscard]] static std::uint16_t first_of(const std::vector<Line>& lines, const std::uint8_t* address,
                                              std::uint16_t port) {
    for (const Line& line : lines) {
      if (line.fits(address) && port >= line.first_port && port <= line.last_port) return line.index;
    }
    return kNone;
  }
  void make_lines();

  std::uint32_t unproven_per_second_;
  std::vector<Line4> v4_;
  std::vector<Line6> v6_;
  std::array<std::optional<ProtectedServer>, kMaxServers> servers_;
  std::vector<std::uint16_t> used_;
};

}  // namespace splitplane::guard

// Derived QoS rules of a PDU session (TS 24.501 6.2.5.1.4): a downlink packet with RQI says which QoS flow the UE's
// packets of the same connection use. The filter of a rule is that packet's, with source and destination exchanged.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/types.h"
#include "ue/ue_packet.h"

namespace splitplane::ue {

class ReflectiveQos {
 public:
  using Ticks = std::uint64_t;
  // More connections than this take the place of the rule that was confirmed longest ago.
  static constexpr std::size_t kMaxRules = 64;

  // `lifetime`: T3583, how long a rule lives after the last downlink packet with RQI.
  explicit ReflectiveQos(Ticks lifetime) : lifetime_(lifetime) {}

  // A downlink packet whose RQI is set. A fragment without ports makes no rule.
  void learn(const IpPacket& downlink, Qfi qfi, Ticks now);
  // The QoS flow of an uplink packet, if a rule matches.
  [[nodiscard]] std::optional<Qfi> flow_of(const IpPacket& uplink, Ticks now) const;
  // Also rules that have run out since the last learn().
  [[nodiscard]] std::size_t size() const { return rules_.size(); }

 private:
  // The components of a derived filter (6.2.5.1.4.2): addresses, protocol, and ports of TCP and UDP.
  struct Filter {
    std::array<std::uint8_t, 16> ours{}, theirs{};
    std::uint16_t our_port = 0, their_port = 0;
    std::uint8_t protocol = 0;
    bool is_v6 = false;

    friend bool operator==(const Filter&, const Filter&) = default;
  };
  struct Rule {
    Filter filter;
    Qfi qfi;
    Ticks confirmed = 0;
  };
  static std::optional<Filter> filter_of(const IpPacket& packet, bool is_uplink);
  [[nodiscard]] bool lives(const Rule& rule, Ticks now) const { return now - rule.confirmed < lifetime_; }

  Ticks lifetime_;
  std::vector<Rule> rules_;
};

}  // namespace splitplane::ue

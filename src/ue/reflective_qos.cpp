#include "ue/reflective_qos.h"

#include <algorithm>
#include <utility>

#include "wire/bytes.h"

namespace splitplane::ue {
namespace {

constexpr std::uint8_t kTcp = 6, kUdp = 17;

// What follows the IP header, by the length that the header says. IPv6 extension headers are protocols here.
struct Upper {
  std::uint8_t protocol = 0;
  bool is_later_fragment = false;  // it begins in the middle of the payload
  Octets octets;
};

Upper upper_of(const IpPacket& packet) {
  const Octets ip = packet.octets;
  if (packet.is_v6) return {ip[6], false, ip.subspan(wire::ipv6::kHeaderBytes)};
  const bool later = (wire::load_be16(ip.data() + 6) & 0x1fff) != 0;
  return {ip[9], later, ip.subspan(std::min<std::size_t>((ip[0] & 0xfU) * 4U, ip.size()))};
}

}  // namespace

std::optional<ReflectiveQos::Filter> ReflectiveQos::filter_of(const IpPacket& packet, bool is_uplink) {
  const Upper upper = upper_of(packet);
  Filter filter;
  filter.is_v6 = packet.is_v6;
  filter.protocol = upper.protocol;
  const auto copy = [](Octets from, std::array<std::uint8_t, 16>& to) {
    std::copy(from.begin(), from.end(), to.begin());
  };
  copy(is_uplink ? source_of(packet) : destination_of(packet), filter.ours);
  copy(is_uplink ? destination_of(packet) : source_of(packet), filter.theirs);
  if (upper.protocol != kTcp && upper.protocol != kUdp) return filter;
  if (upper.is_later_fragment || upper.octets.size() < 4) return std::nullopt;
  filter.our_port = wire::load_be16(upper.octets.data() + (is_uplink ? 0 : 2));
  filter.their_port = wire::load_be16(upper.octets.data() + (is_uplink ? 2 : 0));
  return filter;
}

void ReflectiveQos::learn(const IpPacket& downlink, Qfi qfi, Ticks now) {
  const auto filter = filter_of(downlink, false);
  if (!filter) return;
  const auto known = std::ranges::find(rules_, *filter, &Rule::filter);
  if (known != rules_.end()) {
    known->qfi = qfi;
    known->confirmed = now;
    return;
  }
  std::erase_if(rules_, [&](const Rule& rule) { return !lives(rule, now); });
  if (rules_.size() == kMaxRules) rules_.erase(std::ranges::min_element(rules_, {}, &Rule::confirmed));
  rules_.push_back({*filter, qfi, now});
}

std::optional<Qfi> ReflectiveQos::flow_of(const IpPacket& uplink, Ticks now) const {
  if (rules_.empty()) return std::nullopt;
  const auto filter = filter_of(uplink, true);
  if (!filter) return std::nullopt;
  const auto known = std::ranges::find(rules_, *filter, &Rule::filter);
  if (known == rules_.end() || !lives(*known, now)) return std::nullopt;
  return known->qfi;
}

}  // namespace splitplane::ue

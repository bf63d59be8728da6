#include "nicmodel/steering.h"

#include <algorithm>
#include <cstring>

#include "wire/bytes.h"
#include "wire/ethernet.h"

namespace splitplane::nicmodel {

namespace reg = gpu::reg;

namespace {

// RSS types and packet types of the write-back descriptor (7.1.6.2).
constexpr std::uint32_t kRssTcpIpv4 = 1, kRssIpv4 = 2, kRssTcpIpv6 = 3, kRssIpv6 = 5, kRssUdpIpv4 = 7, kRssUdpIpv6 = 8;
constexpr std::uint32_t kIpv4 = 0x10, kIpv6 = 0x40, kTcp = 0x100, kUdp = 0x200;
constexpr std::uint8_t kProtocolTcp = 6, kProtocolUdp = 17;
constexpr std::uint32_t kIgnoreAll = 0x1F;

std::uint32_t load32(const std::uint8_t* at) {
  std::uint32_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

}  // namespace

bool Steering::Filter::fits(const FiveTuple& t) const {
  return ((ignore & 1) != 0 || t.source == match.source) && ((ignore & 2) != 0 || t.destination == match.destination) &&
         ((ignore & 4) != 0 || (t.ports & 0xFFFF) == (match.ports & 0xFFFF)) &&
         ((ignore & 8) != 0 || t.ports >> 16 == match.ports >> 16) &&
         ((ignore & 16) != 0 || t.protocol == match.protocol);
}

void Steering::configure(const RegisterFile& registers) {
  mrqc_ = registers.value(reg::kMrqc);
  RssKey key;
  for (std::uint32_t i = 0; i < kRssKeyBytes; ++i) {
    key[i] = static_cast<std::uint8_t>(registers.value(reg::rssrk(i / 4)) >> (i % 4 * 8));
  }
  toeplitz_ = Toeplitz(key);
  for (std::uint32_t i = 0; i < reta_.size(); ++i) {
    reta_[i] = static_cast<std::uint8_t>(registers.value(reg::reta(i / 4)) >> (i % 4 * 8) & 0xF);  // 8.2.3.7.15
  }
  masked_.clear();
  exact_filters_.clear();
  exact_.fill(-1);
  for (std::uint32_t n = 0; n < reg::kFiveTupleFilters; ++n) {
    const std::uint32_t ftqf = registers.value(reg::ftqf(n));
    if ((ftqf & reg::kFtqfEnable) == 0) continue;
    const Filter filter{.match = {registers.value(reg::saqf(n)), registers.value(reg::daqf(n)),
                                  registers.value(reg::sdpqf(n)), static_cast<std::uint8_t>(ftqf & 3)},
                        .ignore = ftqf >> 25 & kIgnoreAll,
                        .priority = ftqf >> reg::kFtqfPriorityShift & 7,
                        .ring = registers.value(reg::l34timir(n)) >> reg::kL34QueueShift & 0x7F};
    if (filter.ignore != 0) {
      masked_.push_back(filter);
      continue;
    }
    std::size_t at = bucket(filter.match);
    while (exact_[at] >= 0) at = (at + 1) % exact_.size();
    exact_[at] = static_cast<std::int16_t>(exact_filters_.size());
    exact_filters_.push_back(filter);
  }
  std::ranges::stable_sort(masked_, std::greater{}, &Filter::priority);
}

std::optional<std::uint32_t> Steering::filtered(const FiveTuple& tuple) const {
  const Filter* best = nullptr;
  for (std::size_t at = bucket(tuple); exact_[at] >= 0; at = (at + 1) % exact_.size()) {
    const Filter& filter = exact_filters_[static_cast<std::size_t>(exact_[at])];
    if (filter.match == tuple && (best == nullptr || filter.priority > best->priority)) best = &filter;
  }
  for (const Filter& filter : masked_) {
    if (best != nullptr && best->priority >= filter.priority) break;
    if (filter.fits(tuple)) best = &filter;
  }
  return best == nullptr ? std::nullopt : std::optional(best->ring);
}

Steered Steering::steer(const std::uint8_t* frame, std::uint32_t bytes) const {
  const std::uint8_t* const end = frame + bytes;
  const std::uint8_t* ip = frame + wire::ethernet::kHeaderBytes;
  if (ip > end) return {};
  std::uint16_t ether_type = wire::load_be16(ip - 2);
  if (ether_type == wire::ethernet::kTypeVlan && ip + 4 <= end) {
    ether_type = wire::load_be16(ip + 2);
    ip += 4;
  }
  const bool rss = (mrqc_ & reg::kMrqcRssMask) == reg::kMrqcRss;
  if (ether_type == wire::ethernet::kTypeIpv4 && ip + 20 <= end) {
    const std::uint8_t* const ports = ip + (ip[0] & 0xF) * 4;
    const bool fragment = (wire::load_be16(ip + 6) & 0x3FFF) != 0;
    const bool tcp = !fragment && ip[9] == kProtocolTcp && ports + 4 <= end;
    const bool udp = !fragment && ip[9] == kProtocolUdp && ports + 4 <= end;
    const std::uint32_t type = kIpv4 | (tcp ? kTcp : udp ? kUdp : 0);
    std::optional<std::uint32_t> ring;
    if ((tcp || udp) && (!exact_filters_.empty() || !masked_.empty())) {
      ring = filtered({load32(ip + 12), load32(ip + 16), load32(ports), static_cast<std::uint8_t>(udp ? 1 : 0)});
    }
    Steered result{.ring = 0, .hash = 0, .type = type};
    if (rss) {
      std::uint8_t input[12];
      std::memcpy(input, ip + 12, 8);
      if ((tcp && (mrqc_ & reg::kMrqcTcpIpv4) != 0) || (udp && (mrqc_ & reg::kMrqcUdpIpv4) != 0)) {
        std::memcpy(input + 8, ports, 4);
        result = spread(toeplitz_.hash<12>(input), type | (tcp ? kRssTcpIpv4 : kRssUdpIpv4));
      } else if ((mrqc_ & reg::kMrqcIpv4) != 0) {
        result = spread(toeplitz_.hash<8>(input), type | kRssIpv4);
      }
    }
    if (ring) result.ring = *ring;
    return result;
  }
  if (ether_type == wire::ethernet::kTypeIpv6 && ip + 40 <= end) {
    const bool tcp = ip[6] == kProtocolTcp && ip + 44 <= end;
    const bool udp = ip[6] == kProtocolUdp && ip + 44 <= end;
    const std::uint32_t type = kIpv6 | (tcp ? kTcp : udp ? kUdp : 0);
    if (!rss) return {.ring = 0, .hash = 0, .type = type};
    std::uint8_t input[36];
    std::memcpy(input, ip + 8, 32);
    if ((tcp && (mrqc_ & reg::kMrqcTcpIpv6) != 0) || (udp && (mrqc_ & reg::kMrqcUdpIpv6) != 0)) {
      std::memcpy(input + 32, ip + 40, 4);
      return spread(toeplitz_.hash<36>(input), type | (tcp ? kRssTcpIpv6 : kRssUdpIpv6));
    }
    if ((mrqc_ & reg::kMrqcIpv6) != 0) return spread(toeplitz_.hash<32>(input), type | kRssIpv6);
    return {.ring = 0, .hash = 0, .type = type};
  }
  return {};
}

}  // namespace splitplane::nicmodel

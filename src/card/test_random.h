// For tests of card/ only: what the makers of random packets (test_packets.h) share: a seeded source, bearers to choose
// from, T-PDUs of many lengths, damage.
#pragma once

#include <algorithm>
#include <random>
#include <string>

#include "card/test_bearers.h"

namespace splitplane::nic::test {

using datapath::test::GtpuExtension;
using datapath::test::N3Frame;

struct Packet {
  Bytes octets;
  std::string what;
  bool downlink = true;
  bool valid = false;                  // a fast-path variant: on a card's bearer it may not be punted
  bool udp_checksum = false;           // except if the host has to verify the checksum
  const TestBearer* bearer = nullptr;  // the bearer that it is for; there may be none
  std::size_t segments_at = 0;         // 0: one segment
};

using Random = std::mt19937_64;

class PacketParts {
 public:
  PacketParts(const std::vector<TestBearer>& bearers, Random& random) : bearers_(bearers), random_(random) {}

 protected:
  std::uint32_t below(std::size_t n) { return static_cast<std::uint32_t>(random_() % n); }
  static bool is_am(const TestBearer& b) { return b.config.rlc_mode == RlcMode::kAm; }

  template <class Predicate>
  const TestBearer& any(Predicate wanted) {
    for (;;) {
      const TestBearer& b = bearers_[below(bearers_.size())];
      if (wanted(b)) return b;
    }
  }

  // Mostly short lengths, and some at the exact limit of the air or the UPF's MTU.
  std::size_t bytes() { return below(8) != 0 ? 1 + below(100) : 1 + below(1400); }
  std::size_t uplink_bytes() { return below(30) == 0 ? 1456 - below(3) : bytes(); }
  static std::size_t longest(const TestBearer& b) {
    const auto line = ran::make_downlink(b.config);
    return kAirFrameBytes - 14 - ran::kAirhdrBytes - line.header_bytes;
  }

  // Octets of which the first says IPv4, IPv6 or an unknown version, with a UE's address as destination if there is
  // room.
  Bytes payload(std::size_t n, const TestBearer* b = nullptr) {
    Bytes octets(n);
    for (auto& o : octets) o = static_cast<std::uint8_t>(random_());
    const std::uint32_t version = below(12);
    octets[0] = static_cast<std::uint8_t>(version == 0 ? octets[0] : version < 7 ? 0x45 : 0x60);
    if (b == nullptr) return octets;
    const auto& v4 = b->config.ue_ipv4->octets();
    const auto& v6 = b->config.ue_ipv6->octets();
    if (octets[0] >> 4 == 4 && n >= 20) std::copy(v4.begin(), v4.begin() + 4, octets.begin() + 16);
    if (octets[0] >> 4 == 6 && n >= 40) std::copy(v6.begin(), v6.begin() + 16, octets.begin() + 24);
    return octets;
  }

  N3Frame to(const TestBearer& b) {
    const std::size_t most = longest(b);
    const std::size_t n = below(30) == 0 ? most - below(3) : std::max<std::size_t>(40, std::min(bytes(), most));
    return {.teid = b.id(),
            .extensions = {{wire::gtpu::kExtensionPsc, {0x00, static_cast<std::uint8_t>(random_() & 0x7f)}}},
            .payload = ip_payload(n, b)};
  }
  // An inner packet with an address, as fast-path packets have.
  Bytes ip_payload(std::size_t n, const TestBearer& b) {
    Bytes octets;
    do octets = payload(n, &b);
    while (octets[0] != 0x45 && octets[0] != 0x60);
    return octets;
  }

  // Changes any of the first `header` octets.
  void damage(Bytes& frame, std::size_t header) {
    for (std::uint32_t times = 1 + below(3); times != 0; --times) {
      std::uint8_t& o = frame[below(std::min(frame.size(), header))];
      o = static_cast<std::uint8_t>(below(2) == 0 ? random_() : o ^ 1U << below(8));
    }
  }

  const std::vector<TestBearer>& bearers_;
  Random& random_;
};

}  // namespace splitplane::nic::test

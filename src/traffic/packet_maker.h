// Makes the generator's packets: a copy of a prebuilt frame, and a few stores for the parts that differ (tunnel, QFI,
// UE address, numbers, stamp, checksums). Downlink packets are as a UPF sends them to the gNB on N3; uplink packets are
// as a UE sends them on the air. It shares no code with the gNB's headers, because the packets test them.
#pragma once

#include <rte_prefetch.h>

#include <array>
#include <cstdint>
#include <vector>

#include "base/ip_address.h"
#include "base/types.h"
#include "ran/bearer_config.h"
#include "traffic/stamp.h"

namespace splitplane::traffic {

// One flow: a bearer, in the generator's direction.
struct FlowSpec {
  ran::BearerConfig bearer;      // downlink: id, upf (the outer source), qfi; uplink: id, modes, qfi
  IpAddress gnb;                 // downlink: the outer destination, of the family of bearer.upf
  bool ipv6 = false;             // of the inner packets; bearer.ue_ipv6 or ue_ipv4 must be set
  std::uint32_t pdcp_first = 0;  // uplink: the COUNT and the RLC number of the first packet
  std::uint32_t rlc_first = 0;
};

struct MakerSettings {
  Direction direction = Direction::kDownlink;
  MacAddress from, to;
  IpAddress server_ipv4, server_ipv6;  // the other end of the inner packets
  std::vector<std::uint16_t> sizes;    // octets of inner packets; smallest_inner() and more
  std::uint32_t run = 0;
};

inline constexpr std::uint16_t kInnerSourcePort = 40000;
inline constexpr std::uint16_t kInnerDestinationPort = 9;  // discard, in case a packet reaches a host

[[nodiscard]] constexpr std::uint16_t smallest_inner(bool ipv6) {
  return static_cast<std::uint16_t>((ipv6 ? 40 : 20) + 8 + kStampBytes);
}
inline constexpr unsigned kMostFrameOverhead = 14 + 40 + 8 + 16;  // Ethernet, IPv6, UDP, GTP-U with a PSC

class PacketMaker {
 public:
  PacketMaker(const MakerSettings& settings, const std::vector<FlowSpec>& flows);

  [[nodiscard]] std::uint32_t flows() const { return static_cast<std::uint32_t>(lines_.size()); }
  [[nodiscard]] std::uint32_t sizes() const { return sizes_; }
  [[nodiscard]] std::uint64_t sent(std::uint32_t flow) const { return lines_[flow].sequence; }
  void prefetch(std::uint32_t flow) const { rte_prefetch0(&lines_[flow]); }

  // Numbers the next packet of `flow` and writes it. Returns the octets of the frame. `out` has room for the largest
  // size and kMostFrameOverhead.
  unsigned make(std::uint32_t flow, std::uint32_t size, std::uint64_t intended_ns, std::uint8_t* out);
  // The flow's last packet will not be sent, so its numbers are free again.
  void take_back(std::uint32_t flow) { --lines_[flow].sequence; }

 private:
  // The parts that differ between flows: one cache line.
  struct alignas(64) Line {
    std::uint64_t sequence = 0;
    std::uint64_t header = 0;  // uplink: constant bits of RLC | PDCP | SDAP, right-aligned
    std::array<std::uint8_t, 16> ue_address{};
    std::uint32_t tunnel = 0;  // TEID or bearer identity
    std::uint32_t rlc_first = 0, pdcp_first = 0;
    std::uint32_t shape = 0;        // of the first size
    std::uint16_t address_sum = 0;  // of the UE address as 16-bit words
    std::uint16_t poll_pdu = 0;
    std::uint8_t header_bytes = 0;
    std::uint8_t rlc_bits = 0, rlc_shift = 0, pdcp_bits = 0, pdcp_shift = 0, poll_shift = 0;
    std::uint8_t air_modes = 0;  // second octet of airhdr
    std::uint8_t qfi = 0;
  };
  static_assert(sizeof(Line) == 64);

 public:
  // With the list that it is made from, which grows by doubling.
  static constexpr std::size_t kBytesPerFlow = sizeof(Line) + 3 * sizeof(FlowSpec);

 private:
  // The parts that flows of one kind share, per size. Sums are of 16-bit words, without the parts that a flow or a
  // packet adds.
  struct alignas(64) Shape {
    std::array<std::uint8_t, 64> head{};  // Ethernet, and on N3 IP and UDP
    std::vector<std::uint8_t> inner;
    std::uint64_t ip_sum = 0;     // inner IPv4 header
    std::uint64_t udp_sum = 0;    // inner UDP with its pseudo header
    std::uint64_t outer_sum = 0;  // outer UDP with its pseudo header and all octets after it
    std::uint16_t head_bytes = 0;
    bool ipv6 = false;
  };

  [[nodiscard]] Shape make_shape(const MakerSettings& settings, const FlowSpec& flow, std::uint16_t inner_bytes) const;
  [[nodiscard]] Line make_line(const FlowSpec& flow) const;
  std::uint8_t* write_air(Line& line, std::size_t inner_bytes, std::uint8_t* out) const;
  void write_inner(const Line& line, const Shape& shape, std::uint64_t intended_ns, std::uint8_t* inner) const;

  Direction direction_;
  std::uint32_t run_, sizes_;
  std::vector<Line> lines_;
  std::vector<Shape> shapes_;
};

}  // namespace splitplane::traffic

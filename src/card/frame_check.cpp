#include "card/frame_check.h"

#include "wire/ethernet.h"
#include "wire/ipv4.h"

namespace splitplane::nic {
namespace {

using namespace parsed;
constexpr std::uint8_t kUdpProtocol = 17, kGpdu = 255;
constexpr unsigned kGtpuPort = 2152;

// GTP-U at `f`, of which the datagram has `bytes` octets.
PuntReason check_gtpu(const std::uint8_t* f, unsigned bytes, bool inner) {
  if (wire::load_be16(f + 2) + kGtpu != bytes) return PuntReason::length_mismatch;
  unsigned headers = kGtpu;
  if ((f[0] & 7) != 0) headers += kGtpuOptional;
  if ((f[0] & 4) != 0) headers += kPsc;
  if (bytes < headers) return PuntReason::short_frame;
  if (f[1] != kGpdu) return PuntReason::none;  // nothing behind it is read
  if (bytes == headers) return PuntReason::short_frame;
  if (!inner) return PuntReason::none;
  const unsigned wanted = f[headers] >> 4 == 6 ? kInnerIpv6 : kInnerIpv4;
  return bytes < headers + wanted ? PuntReason::short_frame : PuntReason::none;
}

}  // namespace

PuntReason check_n3_frame(const std::uint8_t* f, unsigned bytes, bool inner) {
  if (bytes < kEthernet) return PuntReason::short_frame;
  unsigned at = kEthernet, type = wire::load_be16(f + 12);
  if (type == wire::ethernet::kTypeVlan || type == wire::ethernet::kTypeServiceVlan) {
    at += kVlan;
    if (bytes < at) return PuntReason::short_frame;
    type = wire::load_be16(f + 16);
  }
  if (type != wire::ethernet::kTypeIpv4) return PuntReason::none;
  const std::uint8_t* const ip = f + at;
  const unsigned ip_bytes = bytes - at;
  if (ip_bytes < kN3) return PuntReason::short_frame;
  if (ip[0] != 0x45 || ip[9] != kUdpProtocol) return PuntReason::none;
  if (wire::load_be16(ip + 2) != ip_bytes) return PuntReason::length_mismatch;
  const std::uint8_t* const udp = ip + kIpv4;
  const unsigned udp_bytes = ip_bytes - kIpv4;
  if (wire::load_be16(udp + 2) != kGtpuPort) return PuntReason::none;
  if (wire::load_be16(udp + 4) != udp_bytes) return PuntReason::length_mismatch;
  return check_gtpu(udp + kUdp, udp_bytes - kUdp, inner);
}

PuntReason check_ipv4_checksum(const std::uint8_t* f, unsigned bytes) {
  const auto ethernet = wire::ethernet::parse({f, bytes});
  if (!ethernet || ethernet->ether_type != wire::ethernet::kTypeIpv4) return PuntReason::none;
  const wire::Octets packet = wire::Octets(f, bytes).subspan(ethernet->header_bytes);
  const auto ip = wire::ipv4::parse(packet);
  if (!ip || wire::ipv4::checksum_is_good(packet, *ip)) return PuntReason::none;
  return PuntReason::udp_checksum;
}

}  // namespace splitplane::nic

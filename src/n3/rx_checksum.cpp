#include "n3/rx_checksum.h"

#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/udp.h"

namespace splitplane::datapath {
namespace {

using wire::Octets;
using wire::Reason;

Reason verify_ipv4(Octets packet) {
  const auto ip = wire::ipv4::parse(packet);
  if (!ip) return Reason::ok;
  if (!wire::ipv4::checksum_is_good(packet, *ip)) return Reason::ipv4_bad_checksum;
  if (ip->protocol != wire::ipv4::kProtocolUdp || ip->is_fragment()) return Reason::ok;
  const Octets rest = packet.subspan(ip->header_bytes, ip->payload_bytes());
  const auto udp = wire::udp::parse(rest);
  if (!udp) return Reason::ok;
  const bool good = wire::udp::checksum_is_good(packet.subspan(12, 4), packet.subspan(16, 4), rest.first(udp->length));
  return good ? Reason::ok : Reason::udp_bad_checksum;
}

Reason verify_ipv6(Octets packet) {
  const auto ip = wire::ipv6::parse(packet);
  if (!ip || ip->upper_protocol != wire::ipv6::kProtocolUdp || ip->is_fragment) return Reason::ok;
  const Octets rest = packet.subspan(ip->upper_offset, ip->upper_bytes());
  const auto udp = wire::udp::parse(rest);
  if (!udp) return Reason::ok;
  const bool good = wire::udp::checksum_is_good(packet.subspan(8, 16), packet.subspan(24, 16), rest.first(udp->length));
  return good ? Reason::ok : Reason::udp_bad_checksum;
}

}  // namespace

DropReason verify_checksums(const rte_mbuf* m, ChecksumMode mode) {
  if (mode == ChecksumMode::offload) {
    if ((m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_BAD) {
      return drop_reason(Reason::ipv4_bad_checksum);
    }
    const bool bad = (m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_BAD;
    return bad ? drop_reason(Reason::udp_bad_checksum) : DropReason::ok;
  }
  if (mode == ChecksumMode::off || m->nb_segs != 1) return DropReason::ok;
  const Octets frame(rte_pktmbuf_mtod(m, const std::uint8_t*), m->data_len);
  const auto ethernet = wire::ethernet::parse(frame);
  if (!ethernet) return DropReason::ok;
  const Octets packet = frame.subspan(ethernet->header_bytes);
  if (ethernet->ether_type == wire::ethernet::kTypeIpv4) return drop_reason(verify_ipv4(packet));
  if (ethernet->ether_type == wire::ethernet::kTypeIpv6) return drop_reason(verify_ipv6(packet));
  return DropReason::ok;
}

void drop_wrong_checksums(Burst& burst, ChecksumMode mode, Drops& drops) {
  unsigned kept = 0;
  for (unsigned i = 0; i < burst.size; ++i) {
    const DropReason reason = verify_checksums(burst.mbuf[i], mode);
    if (reason == DropReason::ok) {
      burst.mbuf[kept++] = burst.mbuf[i];
    } else {
      drops.add(burst.mbuf[i], reason);
    }
  }
  burst.size = kept;
}

}  // namespace splitplane::datapath

#include "card/outer_checksum.h"

#include "wire/ethernet.h"
#include "wire/ipv4.h"

namespace splitplane::nic {

bool outer_checksum_is_good(const rte_mbuf* m) {
  const wire::Octets frame(rte_pktmbuf_mtod(m, const std::uint8_t*), m->data_len);
  const auto ethernet = wire::ethernet::parse(frame);
  if (!ethernet || ethernet->ether_type != wire::ethernet::kTypeIpv4) return true;
  const wire::Octets packet = frame.subspan(ethernet->header_bytes);
  const auto ip = wire::ipv4::parse(packet);
  return !ip || wire::ipv4::checksum_is_good(packet, *ip);
}

}  // namespace splitplane::nic

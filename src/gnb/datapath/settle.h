// Tells the card of packets that came up to this worker and were dropped here: the card counts the packets of a bearer
// that are at the host, and lets later ones follow them.
#pragma once

#include <rte_cycles.h>

#include "gnb/datapath/downlink_path.h"
#include "n3/frame_teid.h"
#include "returns/returned_frame.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"

namespace splitplane::datapath {

// True if a card counts the frame as one that is at the host, for a bearer that it serves: p4/gnb_parser.p4i and
// p4/gnb_lengths.p4i find a G-PDU in it that agrees with its lengths, and it is for `ours`. What a card
// does not take for a packet of a bearer it does not count.
[[nodiscard]] inline bool is_counted_by_card(const std::uint8_t* f, unsigned bytes, const N3Addresses& ours) {
  constexpr unsigned kEthernet = 14, kIpv4 = 20, kIpv6 = 40, kUdp = 8, kGtpu = 8;
  constexpr unsigned kExtended = 4, kOptional = 3, kPsc = 0x85;
  const auto outer = wire::load_be16(f + 12);
  const bool tagged = outer != wire::ethernet::kTypeIpv4 && outer != wire::ethernet::kTypeIpv6;
  const unsigned at = kEthernet + (tagged ? 4 : 0);
  const bool v6 = wire::load_be16(f + at - 2) == wire::ethernet::kTypeIpv6;
  const unsigned ip_bytes = v6 ? kIpv6 : kIpv4;
  const std::uint8_t *const ip = f + at, *const udp = ip + ip_bytes, *const gtpu = udp + kUdp;
  const unsigned total = static_cast<unsigned>(v6 ? kIpv6 + wire::load_be16(ip + 4) : wire::load_be16(ip + 2));
  const unsigned datagram = static_cast<unsigned>(wire::load_be16(udp + 4));
  const bool lengths = total + at == bytes && datagram + ip_bytes == total &&
                       static_cast<unsigned>(wire::load_be16(gtpu + 2)) + kUdp + kGtpu == datagram;
  const auto fragment = v6 ? 0 : wire::load_be16(ip + 6);
  const bool is_gpdu = (gtpu[0] & 0xf8) == 0x30 && gtpu[1] == 0xff && (fragment == 0 || fragment == 0x4000);
  const bool is_ours = v6 ? ours.ipv6 != decltype(ours.ipv6){} && std::memcmp(ip + 24, ours.ipv6.data(), 16) == 0
                          : ours.ipv4 != 0 && std::memcmp(ip + 16, &ours.ipv4, 4) == 0;
  if (!lengths || !is_gpdu || !is_ours) return false;
  const bool is_in_vlan =
      ours.vlan == 0 ? !tagged : outer == wire::ethernet::kTypeVlan && (wire::load_be16(f + 14) & 0xfff) == ours.vlan;
  if (!is_in_vlan && ours.vlan != N3Addresses::kAnyVlan) return false;
  unsigned needed = at + ip_bytes + kUdp + kGtpu + ((gtpu[0] & (kExtended | kOptional)) != 0 ? 4 : 0);
  if (bytes < needed) return false;
  if ((gtpu[0] & kExtended) != 0 && f[needed - 1] == kPsc) needed += 4;
  return bytes >= needed;
}

// A card whose host verifies checksums gives it frames with a wrong outer one uncounted.
[[nodiscard]] inline bool outer_checksum_is_good(const std::uint8_t* f, unsigned bytes) {
  const auto ethernet = wire::ethernet::parse({f, bytes});
  const wire::Octets packet = wire::Octets(f, bytes).subspan(ethernet ? ethernet->header_bytes : bytes);
  if (ethernet && ethernet->ether_type == wire::ethernet::kTypeIpv6) return true;
  const auto ip = wire::ipv4::parse(packet);
  return ip && wire::ipv4::checksum_is_good(packet, *ip);
}

// The bearer for which a card counts the frame: that of the flow which its first extension header names, if the TEID is
// that of a session with several bearers.
[[nodiscard]] inline ran::PlacedBearer bearer_on_card(ran::BearerTable& bearers, std::uint32_t teid,
                                                      const std::uint8_t* f) {
  constexpr unsigned kGtpuAfterIpv4 = 14 + 20 + 8, kOptional = 8, kContainer = kOptional + 4, kPsc = 0x85;
  const ran::BearerDownlink& line = *bearers.downlink_line(teid);
  if (!ran::is_session(line, teid)) return {teid, teid};
  const auto type = wire::load_be16(f + 12);
  const bool tagged = type != wire::ethernet::kTypeIpv4 && type != wire::ethernet::kTypeIpv6;
  const bool v6 = wire::load_be16(f + (tagged ? 16 : 12)) == wire::ethernet::kTypeIpv6;
  const std::uint8_t* const gtpu = f + kGtpuAfterIpv4 + (tagged ? 4 : 0) + (v6 ? 20 : 0);
  const bool has_qfi = (gtpu[0] & 4) != 0 && gtpu[kOptional + 3] == kPsc;
  const unsigned number = ran::number_of_flow(line, has_qfi, has_qfi ? gtpu[kContainer + 2] & 0x3f : 0);
  return number == ran::kMovingFlow ? ran::PlacedBearer{} : ran::session_bearer(line, teid, number);
}

// Makes a returned frame without an SDU of each dropped packet of a bearer that a card numbers.
template <FeatureSet F, class Sink, class Probe>
[[gnu::noinline]] inline void settle(DownlinkPath<F, Sink, Probe>& path, Drops& drops) {
  GnbContext& gnb = path.gnb;
  if (gnb.keys.by_ue_address) return;  // such a card finds no bearer in a frame without an SDU
  Burst settled;
  drops.take_back([&](rte_mbuf* m) {
    const std::uint32_t teid = m->nb_segs == 1 ? teid_of_frame(octets(m), m->data_len) : 0;
    if (teid == 0 || !is_counted_by_card(octets(m), m->data_len, gnb.n3)) return false;
    const ran::PlacedBearer bearer = bearer_on_card(gnb.bearers, teid, octets(m));
    if (!ran::is_on_card(*gnb.bearers.downlink_line(bearer.place), bearer.id)) return false;
    if (gnb.checksums != ChecksumMode::off && !outer_checksum_is_good(octets(m), m->data_len)) return false;
    std::uint8_t* const frame = octets(m);  // it is longer than what it becomes
    m->data_len = kReturnedHeaderBytes;
    m->pkt_len = kReturnedHeaderBytes;
    write_air_header(gnb.air_header, frame);
    write_returned(bearer.id, 0, 0, frame + 14);
    settled.mbuf[settled.size++] = m;
    return true;
  });
  if (settled.size == 0) return;
  gnb.card_returns.send_settled(path.back, settled.mbuf.data(), settled.size, rte_rdtsc());
}

// In a command: the card counts packets of the bearer that are here, for a long time already. If there are none, a
// frame was lost between card and host.
inline void settle_all(GnbContext& gnb, BearerId id, std::uint64_t now) {
  if (gnb.keys.by_ue_address || !gnb.card_returns.is_quiet(id)) return;
  rte_mbuf* const m = rte_pktmbuf_alloc(gnb.pool);
  if (m == nullptr) return;  // the link asks again
  auto* const frame = reinterpret_cast<std::uint8_t*>(rte_pktmbuf_append(m, kReturnedHeaderBytes));
  write_air_header(gnb.air_header, frame);
  write_returned(id.value, kAllSettled, 0, frame + 14);
  gnb.card_returns.keep_all_settled(m, now);
}

}  // namespace splitplane::datapath

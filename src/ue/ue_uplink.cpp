#include "ue/ue_uplink.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "ran/count_lease.h"
#include "wire/airhdr.h"
#include "wire/ethernet.h"
#include "wire/pdcp.h"
#include "wire/rlc.h"
#include "wire/rlc_status.h"
#include "wire/sdap.h"

namespace splitplane::ue {
namespace {

[[nodiscard]] std::size_t rlc_header_bytes(const ran::BearerConfig& config) {
  switch (config.rlc_mode) {
    case RlcMode::kTm:
      return 0;
    case RlcMode::kUm:
      return wire::rlc::um_header_bytes(config.rlc_sn_bits, wire::rlc::Segment::kComplete);
    case RlcMode::kAm:
      return wire::rlc::am_header_bytes(config.rlc_sn_bits, wire::rlc::Segment::kComplete);
  }
  return 0;
}

[[nodiscard]] std::uint32_t sn_of(std::uint32_t count, unsigned sn_bits) {
  return count & ((1U << sn_bits) - 1);
}

// Writes the RLC header of a complete SDU and moves TX_Next and PDU_WITHOUT_POLL on (TS 38.322 5.3.3.2).
std::size_t write_rlc(UeBearer& bearer, MutableOctets out) {
  const ran::BearerConfig& config = bearer.config;
  if (config.rlc_mode == RlcMode::kTm) return 0;
  if (config.rlc_mode == RlcMode::kUm) return wire::rlc::write_um(out, config.rlc_sn_bits, {});
  wire::rlc::AmHeader header;
  header.sn = sn_of(bearer.rlc_tx_next, config.rlc_sn_bits);
  if (config.poll_pdu != 0 && ++bearer.pdu_without_poll >= config.poll_pdu) {
    header.poll = true;
    bearer.pdu_without_poll = 0;
    ++bearer.uplink.polls;
  }
  ++bearer.rlc_tx_next;
  return wire::rlc::write_am(out, config.rlc_sn_bits, header);
}

// fe80::/10, ::, 169.254/16, 0.0.0.0: packets that the kernel itself sends to a link. There is no link here.
[[nodiscard]] bool is_link_local(Octets address) {
  if (std::all_of(address.begin(), address.end(), [](std::uint8_t o) { return o == 0; })) return true;
  if (address.size() == 4) return address[0] == 169 && address[1] == 254;
  return address[0] == 0xfe && (address[1] & 0xc0) == 0x80;
}

}  // namespace

std::size_t UeUplink::write_link(const UeBearer& bearer, std::size_t pdu_bytes, MutableOctets out) const {
  const std::uint8_t epoch_of_keys = bearer.secured == nullptr ? std::uint8_t{0} : bearer.secured->epoch;
  const ran::BearerConfig& config = bearer.config;
  const std::size_t ethernet =
      wire::ethernet::write(out, link_.peer.octets, link_.ours.octets, wire::airhdr::kEtherType);
  if (ethernet == 0) return 0;
  const std::size_t air =
      wire::airhdr::write(out.subspan(ethernet), {.direction = Direction::kUplink,
                                                  .rlc_mode = config.rlc_mode,
                                                  .rlc_sn_bits = config.rlc_sn_bits,
                                                  .pdcp_sn_bits = config.pdcp_sn_bits,
                                                  .sdap_header = config.sdap_header_ul,
                                                  .epoch = bearer.arq == nullptr ? epoch_of_keys : bearer.arq->epoch,
                                                  .bearer = config.id,
                                                  .pdu_bytes = static_cast<std::uint16_t>(pdu_bytes)});
  return air == 0 ? 0 : ethernet + air;
}

UeBearer* UeUplink::find_source(const IpPacket& ip) {
  const Octets source = source_of(ip);
  if (ip.is_v6) {
    ran::Ipv6Key key;
    std::copy(source.begin(), source.end(), key.begin());
    return bearers_.find_source(key);
  }
  ran::Ipv4Key key = 0;
  std::memcpy(&key, source.data(), sizeof key);
  return bearers_.find_source(key);
}

UeUplink::Framed UeUplink::frame(MutableOctets room, Octets packet) {
  const IpPacket ip = parse_ip(packet);
  if (ip.outcome != UeOutcome::ok) return {.outcome = ip.outcome};
  UeBearer* bearer = find_source(ip);
  if (bearer == nullptr) {
    return {.outcome = is_link_local(source_of(ip)) ? UeOutcome::source_link_local : UeOutcome::source_unknown};
  }
  std::uint8_t sdap = wire::sdap::encode(wire::sdap::UplinkHeader{.is_data = true, .qfi = bearer->config.qfi});
  if (bearer->session != nullptr) {
    const UeSession::Way way = bearer->session->send(ip, now_);
    if (way.bearer == nullptr) return {.outcome = UeOutcome::sdap_no_bearer};
    bearer = way.bearer;
    sdap = way.sdap;
  }
  ++bearer->uplink.received;
  const Framed framed = write(*bearer, room, sdap, ip.octets.size());
  if (framed.outcome == UeOutcome::ok) {
    bearer->uplink.bytes += ip.octets.size();
  } else {
    ++bearer->uplink.dropped;
  }
  return framed;
}

// `packet_bytes` 0: the SDAP header alone.
UeUplink::Framed UeUplink::write(UeBearer& bearer, MutableOctets room, std::uint8_t sdap, std::size_t packet_bytes) {
  const ran::BearerConfig& config = bearer.config;
  const std::size_t overhead = wire::ethernet::kHeaderBytes + wire::airhdr::kHeaderBytes + rlc_header_bytes(config) +
                               wire::pdcp::header_bytes(config.pdcp_sn_bits) +
                               (config.sdap_header_ul ? wire::sdap::kHeaderBytes : 0);
  if (config.security) {
    Framed admitted = admit_secured(bearer, overhead, packet_bytes);
    admitted.sdap = sdap;
    return admitted;
  }
  if (room.size() < overhead) return {.outcome = UeOutcome::no_headroom, .bearer = &bearer};
  if (overhead - wire::ethernet::kHeaderBytes + packet_bytes > link_.mtu) {
    return {.outcome = UeOutcome::packet_too_long, .bearer = &bearer};
  }
  if (bearer.pdcp_tx_next == ran::kCountEnd) return {.outcome = UeOutcome::count_exhausted, .bearer = &bearer};
  if (bearer.arq != nullptr && (!has_room_ || bearer.rlc_tx_next == bearer.arq->limit())) {
    return {.outcome = UeOutcome::rlc_window_full, .bearer = &bearer};
  }

  MutableOctets out = room.last(overhead);
  constexpr std::size_t kLink = wire::ethernet::kHeaderBytes + wire::airhdr::kHeaderBytes;
  out = out.subspan(write_link(bearer, overhead - kLink + packet_bytes, out));
  out = out.subspan(write_rlc(bearer, out));
  out = out.subspan(wire::pdcp::write_data(out, config.pdcp_sn_bits, sn_of(bearer.pdcp_tx_next, config.pdcp_sn_bits)));
  ++bearer.pdcp_tx_next;
  if (config.sdap_header_ul) out[0] = sdap;
  return {UeOutcome::ok, overhead, packet_bytes, &bearer};
}

UeUplink::Framed UeUplink::admit_secured(UeBearer& bearer, std::size_t overhead, std::size_t bytes) const {
  UeOutcome outcome = UeOutcome::ok;
  if (bearer.secured == nullptr) {
    outcome = UeOutcome::pdcp_no_keys;
  } else if (overhead - wire::ethernet::kHeaderBytes + bearer.secured->entity.tx().cover().mac_bytes + bytes >
             link_.mtu) {
    outcome = UeOutcome::packet_too_long;
  } else if (bearer.arq != nullptr && (!has_room_ || bearer.arq->failed)) {
    outcome = UeOutcome::rlc_window_full;
  } else if (bearer.arq != nullptr) {
    const auto room = static_cast<std::int32_t>(bearer.arq->limit() - bearer.rlc_tx_next);
    if (room <= 0) outcome = UeOutcome::rlc_window_full;
    bearer.secured->entity.tx().set_credit(
        {.sdus = static_cast<std::uint32_t>(std::max(room, 0)), .octets = std::numeric_limits<std::uint64_t>::max()});
  }
  return {.outcome = outcome, .packet_bytes = bytes, .bearer = &bearer, .is_protected = outcome == UeOutcome::ok};
}

std::size_t UeUplink::write_lower(UeBearer& bearer, MutableOctets room, std::size_t pdcp_bytes) const {
  const std::size_t rlc = rlc_header_bytes(bearer.config);
  const std::size_t bytes = wire::ethernet::kHeaderBytes + wire::airhdr::kHeaderBytes + rlc;
  if (room.size() < bytes) return 0;
  const MutableOctets out = room.last(bytes);
  const std::size_t link = write_link(bearer, rlc + pdcp_bytes, out);
  return link == 0 ? 0 : link + write_rlc(bearer, out.subspan(link));
}

std::size_t UeUplink::write_status(const UeBearer& bearer, MutableOctets out) const {
  if (bearer.config.rlc_mode != RlcMode::kAm || out.size() < kStatusFrameBytes) return 0;
  const std::size_t link = write_link(bearer, wire::rlc::kStatusFixedBytes, out);
  wire::rlc::StatusWriter status(out.subspan(link), bearer.config.rlc_sn_bits);
  const std::size_t bytes = status.finish(bearer.rlc_rx.next_sn());
  return link == 0 || bytes == 0 ? 0 : link + bytes;
}

}  // namespace splitplane::ue

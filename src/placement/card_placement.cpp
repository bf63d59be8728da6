#include "placement/card_placement.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "card/protocol/lease.h"
#include "gnb/config/lookup.h"

namespace splitplane::app {
namespace {

unsigned queues_of(const GnbConfig& config, const std::string& port) {
  const auto at = std::ranges::find(config.ports, port, &PortConfig::name);
  return at == config.ports.end() ? 0 : at->rx_queues;
}

// The queues of the copies' port, in turn by bearer: all copies and all RLC control PDUs of a bearer meet in one queue.
unsigned copies_vf(const GnbConfig& config, const CardLinkConfig& card, BearerId id) {
  if (card.copies.empty()) return 0;  // the worker's own
  return vf_number(config, card, card.copies, ran::index_of(id.value) % std::max(queues_of(config, card.copies), 1U));
}

std::optional<IpAddress> ipv6_of(const datapath::N3Addresses& ours) {
  if (ours.ipv6 == decltype(ours.ipv6){}) return std::nullopt;
  return IpAddress::v6(ours.ipv6);
}

MacAddress mac_at(const datapath::AirHeader& header, std::size_t offset) {
  MacAddress mac;
  std::copy_n(header.begin() + static_cast<std::ptrdiff_t>(offset), mac.octets.size(), mac.octets.begin());
  return mac;
}

}  // namespace

unsigned vf_number(const GnbConfig& config, const CardLinkConfig& card, const std::string& port, unsigned queue) {
  unsigned number = queue;
  for (const std::string& name : card.vfs) {
    if (name == port) break;
    number += queues_of(config, name);
  }
  return number;
}

unsigned vf_count(const GnbConfig& config, const CardLinkConfig& card) {
  unsigned count = 0;
  for (const std::string& name : card.vfs) count += queues_of(config, name);
  return count;
}

nic::CardBearer card_bearer(const GnbConfig& config, const CardLinkConfig& card, const WorkerConfig& worker,
                            const datapath::GnbContext& gnb, const ran::BearerConfig& bearer, unsigned peer) {
  const unsigned queue = is_fed(config, worker) ? 0 : worker.queue;  // a dispatching worker reads every queue
  nic::CardBearer b{.id = bearer.id,
                    .teid = bearer.dl_teid.value_or(Teid{bearer.id.value}),
                    .ue_ipv4 = bearer.ue_ipv4,
                    .ue_ipv6 = bearer.ue_ipv6,
                    .place = bearer.card.empty() ? nic::Place::kHost : nic::Place::kCard,
                    .pdcp_sn_bits = bearer.pdcp_sn_bits,
                    .sdap_dl = bearer.sdap_header_dl,
                    .sdap_ul = bearer.sdap_header_ul,
                    .poll_pdu = bearer.poll_pdu,
                    .qfi = bearer.qfi,
                    .n3_ipv4 = gnb.n3.ipv4,
                    .n3_ipv6 = ipv6_of(gnb.n3),
                    .n3_vlan = gnb.n3.vlan,
                    .air_dst = mac_at(gnb.air_header, 0),
                    .air_src = mac_at(gnb.air_header, 6),
                    .vf_n3 = vf_number(config, card, card.n3, queue),
                    .vf_air = vf_number(config, card, card.air, queue),
                    .copies_vf = copies_vf(config, card, bearer.id),
                    .uplink_teid = bearer.uplink_teid,
                    .peer = peer,
                    .lease = lease_size(bearer.pdcp_sn_bits).least};
  if (bearer.rlc_mode == RlcMode::kAm) b.rlc_sn_bits = bearer.rlc_sn_bits;
  if (card.copies.empty()) b.copies_vf = b.vf_air;
  // Its worker acknowledges what the UE sends, so uplink packets have to go there.
  b.keeps_copies = bearer.acknowledged && !bearer.card.empty();
  if (b.keeps_copies) b.peer = kStoppedCardPeer;
  return b;
}

void add_flows(nic::CardBearer& entry, const ran::SessionConfig& session) {
  const ran::SessionBearer* const own = session.find(entry.id);
  const bool any_on_card = std::ranges::any_of(session.bearers, [](const auto& b) { return !b.config.card.empty(); });
  if (own == nullptr || session.bearers.size() == 1 || !any_on_card) return;  // the TEID leads to their worker
  entry.has_flows = own->drb == session.default_drb;
  if (entry.has_flows) return;
  for (const Qfi flow : own->flows) entry.flows |= std::uint64_t{1} << flow.value;
  entry.session = session.teid();
}

nic::CardPeer card_peer(unsigned number, const datapath::N3Addresses& ours, const IpAddress& upf,
                        const MacAddress& mac) {
  std::array<std::uint8_t, 4> own;
  std::memcpy(own.data(), &ours.ipv4, own.size());
  return {.number = number,
          .dst = mac,
          .src = ours.mac,
          .from = IpAddress::v4(own),
          .to = upf,
          .max_payload = static_cast<std::uint16_t>(datapath::make_peer(ours, upf, mac).max_payload),
          .vlan = static_cast<std::uint16_t>(ours.sends_tagged() ? ours.vlan : 0)};
}

}  // namespace splitplane::app

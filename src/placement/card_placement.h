// What a card's entry is for a bearer. The bearer's key `card` says where it is (static placement). Here that becomes
// the card's entry: to serve it, or the VF of its worker. What a card cannot serve stands in card/protocol/servable.h.
#pragma once

#include <optional>
#include <string>

#include "card/protocol/bearer.h"
#include "gnb/config/config.h"
#include "gnb/datapath/context.h"
#include "ran/session_config.h"

namespace splitplane::app {

// The number of the VF that is queue `queue` of `port`, and how many VFs the card has as this host sees it.
[[nodiscard]] unsigned vf_number(const GnbConfig& config, const CardLinkConfig& card, const std::string& port,
                                 unsigned queue);
[[nodiscard]] unsigned vf_count(const GnbConfig& config, const CardLinkConfig& card);

// A UPF that no card reaches. Its packets come to the host, which reports why they cannot be sent.
inline constexpr unsigned kStoppedCardPeer = 255;

// What the card gets for a bearer of `worker`, whose context is `gnb`: to serve the bearer, or the VF of its worker.
// `peer` is the UPF's number on the card.
[[nodiscard]] nic::CardBearer card_bearer(const GnbConfig& config, const CardLinkConfig& card,
                                          const WorkerConfig& worker, const datapath::GnbContext& gnb,
                                          const ran::BearerConfig& bearer, unsigned peer);
// For a bearer of a session with several ones: the flows by which the card finds it.
void add_flows(nic::CardBearer& entry, const ran::SessionConfig& session);
// A UPF with an IPv4 address and its next hop's MAC address.
[[nodiscard]] nic::CardPeer card_peer(unsigned number, const datapath::N3Addresses& ours, const IpAddress& upf,
                                      const MacAddress& mac);

}  // namespace splitplane::app

// Which bearers may live on a card, and behind which VFs: static placement, as the configuration says. Where a bearer
// lives is decided here and in user_plane_cards.cpp, never on the card.
#pragma once

#include <optional>
#include <string>

#include "app/config.h"
#include "datapath/gnb_context.h"
#include "nic/card_bearer.h"

namespace splitplane::app {

// Why a card cannot serve this bearer ("what; allowed: what"), nothing if it can. `dl_teid`, in-order delivery and
// the like need the host, and so does a UPF that is reached by IPv6.
[[nodiscard]] std::optional<std::string> refuse_on_card(const ran::BearerConfig& bearer);

// The card in front of a port that is its N3 or air side; nullptr: none.
[[nodiscard]] const CardLinkConfig* card_before(const Config& config, const std::string& port);
// By name; nullptr: none.
[[nodiscard]] const CardLinkConfig* find_card(const Config& config, const std::string& name);

// The number of the VF that is queue `queue` of `port`, and how many the card has as this host sees it.
[[nodiscard]] unsigned vf_number(const Config& config, const CardLinkConfig& card, const std::string& port,
                                 unsigned queue);
[[nodiscard]] unsigned vf_count(const Config& config, const CardLinkConfig& card);

// A UPF that no card reaches: what goes there comes to the host, which says why it goes nowhere.
inline constexpr unsigned kStoppedCardPeer = 255;

// What the card is told of a bearer of `worker`, whose context is `gnb`: to serve it, or whose VF it is. `peer`: the
// UPF's number on the card.
[[nodiscard]] nic::CardBearer card_bearer(const Config& config, const CardLinkConfig& card, const WorkerConfig& worker,
                                          const datapath::GnbContext& gnb, const ran::BearerConfig& bearer,
                                          unsigned peer);
// A UPF with an IPv4 address and its next hop's MAC address.
[[nodiscard]] nic::CardPeer card_peer(unsigned number, const datapath::N3Addresses& ours, const IpAddress& upf,
                                      const MacAddress& mac);

}  // namespace splitplane::app

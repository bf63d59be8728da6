// Requests from a host to a card's control socket, as JSON: the objects of card.install and card.peer.
#pragma once

#include "card/protocol/bearer.h"
#include "control/params.h"

namespace splitplane::app {

inline constexpr std::size_t kCardBearersPerRequest = 256;

// The members that bearers share; the second function gives a bearer's members that differ. So a request for many
// bearers is short.
[[nodiscard]] Json common_to_json(const nic::CardBearer& bearer);
[[nodiscard]] Json to_json(const nic::CardBearer& bearer, const nic::CardBearer& common);
[[nodiscard]] Json to_json(const nic::CardPeer& peer);

// A row of card.numbers: [id, pdcp_next, rlc_next, in_flight, dl_packets, ul_packets, epoch, ahead, lease_end,
// dl_octets, ul_octets, 1 if the host serves the bearer].
struct CardNumbersRow {
  BearerId id;
  nic::CardNumbers numbers;
};
[[nodiscard]] Expected<std::vector<CardNumbersRow>> numbers_from_json(const Json& result);

// An item of card.begin.
[[nodiscard]] Json to_json(const nic::CardBeginning& beginning);

}  // namespace splitplane::app

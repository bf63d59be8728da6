#include "card/link/peers.h"

#include <algorithm>

namespace splitplane::app {

void LinkPeers::set(const nic::CardPeer& peer) {
  peers_[peer.number].want = peer;
  dirty_.insert(peer.number);
}

void LinkPeers::unset(unsigned number) {
  peers_[number] = {{}, Peer::kToUnset};
  dirty_.insert(number);
}

void LinkPeers::send_all() {
  for (unsigned number = 0; number < peers_.size(); ++number) {
    if (peers_[number].want) dirty_.insert(number);
  }
}

void LinkPeers::begin_anew() {
  for (Peer& peer : peers_) peer.since = Peer::kOne;
}

void LinkPeers::unset_all_first() {
  for (unsigned number = 0; number < peers_.size(); ++number) {
    peers_[number].since = Peer::kToUnset;
    dirty_.insert(number);
  }
}

std::optional<LinkPeers::Request> LinkPeers::next(bool bearers_done) {
  const auto at = std::ranges::find_if(
      dirty_, [&](unsigned number) { return peers_[number].since != Peer::kUnset || bearers_done; });
  if (at == dirty_.end()) return std::nullopt;
  const unsigned number = *at;
  Peer& peer = peers_[number];
  const bool set = peer.want && peer.since != Peer::kToUnset;
  peer.since = set ? Peer::kOne : Peer::kUnset;
  if (set || !peer.want) dirty_.erase(at);
  return Request{number, set ? peer.want : std::nullopt};
}

void LinkPeers::failed(const Request& request) {
  if (!request.peer) peers_[request.number].since = Peer::kToUnset;
  dirty_.insert(request.number);
}

}  // namespace splitplane::app

// The numbers of UPFs on a card. While bearers on the card may mean the UPF that had a number before, the card must not
// get another UPF under it. The owner makes the requests and has its lock held in all calls.
#pragma once

#include <array>
#include <optional>
#include <set>

#include "card/protocol/bearer.h"

namespace splitplane::app {

class LinkPeers {
 public:
  // The desired state.
  void set(const nic::CardPeer& peer);
  void unset(unsigned number);

  // The card was reached: it gets all UPFs again.
  void send_all();
  // The card runs anew and has no UPF.
  void begin_anew();
  // The card has bearers of an earlier host, whose numbers may mean other UPFs: each number is unset first.
  void unset_all_first();

  struct Request {
    unsigned number = 0;
    std::optional<nic::CardPeer> peer;  // nothing: the number is to be unset
  };
  // The next request to the card. A number that gets another UPF is first unset. It is set when no bearer on the card
  // means the first UPF any more: `bearers_done`. Until then packets of both UPFs' bearers go up to this host, which
  // knows where they belong.
  [[nodiscard]] std::optional<Request> next(bool bearers_done);
  // The card has not executed the request.
  void failed(const Request& request);

  [[nodiscard]] bool has_work() const { return !dirty_.empty(); }

 private:
  struct Peer {
    std::optional<nic::CardPeer> want;
    enum : std::uint8_t { kOne, kToUnset, kUnset } since = kOne;  // kOne: has meant one UPF only
  };
  std::array<Peer, 256> peers_;
  std::set<unsigned> dirty_;  // numbers whose state the card does not have
};

}  // namespace splitplane::app

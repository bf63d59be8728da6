// A card in front of the workers of `splitplane explain`: the P4 program itself, with the entries that `splitplane run`
// would install, one packet at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "card/card.h"
#include "gnb/config/config.h"
#include "gnb/datapath/context.h"

namespace splitplane::app {

// What the card did with one packet.
struct CardPassage {
  std::string card;
  unsigned from = 0, to = 0;  // its ports
  rte_mbuf* frame = nullptr;  // as it left by `to`; nullptr: dropped
  std::size_t clones = 0;
  std::optional<nic::PuntReason> punted;
  std::optional<nic::CardDrop> dropped;
};

class ExplainCard {
 public:
  // With the program that a card of this host needs: features clone, and the host's lookup. Error: one sentence.
  static Expected<std::unique_ptr<ExplainCard>> make(const GnbConfig& config, const CardLinkConfig& card);
  Expected<void> install(const WorkerConfig& worker, const datapath::GnbContext& gnb, const ran::BearerConfig& bearer,
                         const std::optional<MacAddress>& upf_mac);
  // Takes `m`; the frame that leaves is the caller's.
  CardPassage pass(rte_mbuf* m, unsigned from);
  // The card's port of the queue that `worker` has for this direction.
  [[nodiscard]] unsigned port_of(const WorkerConfig& worker, Direction direction) const;
  // Whether `worker` has the queue behind the card's port.
  [[nodiscard]] bool is_of(unsigned port, const WorkerConfig& worker) const;
  [[nodiscard]] const CardLinkConfig& config() const { return link_; }

 private:
  ExplainCard(const GnbConfig& config, const CardLinkConfig& link) : config_(config), link_(link) {}
  const GnbConfig& config_;
  const CardLinkConfig& link_;
  std::unique_ptr<nic::Card> card_;
  std::vector<IpAddress> upfs_;  // by the number that the card knows
};

}  // namespace splitplane::app

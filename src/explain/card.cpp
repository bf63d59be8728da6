#include "explain/card.h"

#include <algorithm>

#include "card/control/spec.h"
#include "placement/card_placement.h"

namespace splitplane::app {
namespace {

constexpr unsigned kEthernetBytes = 14;

template <class Reason, std::size_t N>
std::optional<Reason> counted(const std::array<std::uint64_t, N>& before, const std::array<std::uint64_t, N>& after) {
  for (std::size_t i = 1; i < N; ++i) {
    if (after[i] != before[i]) return static_cast<Reason>(i);
  }
  return std::nullopt;
}

}  // namespace

Expected<std::unique_ptr<ExplainCard>> ExplainCard::make(const GnbConfig& config, const CardLinkConfig& link) {
  std::unique_ptr<ExplainCard> made(new ExplainCard(config, link));
  const bool by_address = config.lookup == GnbConfig::Lookup::kUeAddress;
  const CardConfig program{.lookup = by_address ? CardConfig::Lookup::kUeAddress : CardConfig::Lookup::kTeid};
  const auto spec = load_spec(program);
  if (!spec) return fail("card {}: {}", link.name, spec.error().message);
  const auto air = std::ranges::find(config.ports, link.air, &PortConfig::name);
  auto card = nic::Card::make(*spec, {.name = link.name,
                                      .vfs = vf_count(config, link),
                                      .punt_n3 = vf_number(config, link, link.n3, 0),
                                      .punt_air = vf_number(config, link, link.air, 0),
                                      .air_frame_bytes = kEthernetBytes + unsigned{air->mtu}});
  if (!card) return fail("card {}: {}", link.name, card.error().message);
  made->card_ = std::move(*card);
  return made;
}

Expected<void> ExplainCard::install(const WorkerConfig& worker, const datapath::GnbContext& gnb,
                                    const ran::BearerConfig& bearer, const std::optional<MacAddress>& upf_mac) {
  unsigned peer = kStoppedCardPeer;
  if (!bearer.upf.is_v6()) {
    peer = static_cast<unsigned>(std::ranges::find(upfs_, bearer.upf) - upfs_.begin());
    if (peer == upfs_.size()) {
      if (peer == kStoppedCardPeer) return fail("card {} sends to {} UPFs already", link_.name, peer);
      upfs_.push_back(bearer.upf);
      // This program sends no ARP requests. A MAC address of zeros stands for what a running instance learns.
      if (auto set = card_->set_peer(card_peer(peer, gnb.n3, bearer.upf, upf_mac.value_or(MacAddress{}))); !set)
        return set;
    }
  }
  const nic::CardBearer entry = card_bearer(config_, link_, worker, gnb, bearer, peer);
  return card_->install({&entry, 1});
}

CardPassage ExplainCard::pass(rte_mbuf* m, unsigned from) {
  const nic::CardCounters before = card_->counters();
  card_->process(&m, 1, from);
  const nic::CardCounters after = card_->counters();
  CardPassage passage{.card = link_.name, .from = from};
  passage.punted = counted<nic::PuntReason>(before.punts, after.punts);
  passage.dropped = counted<nic::CardDrop>(before.drops, after.drops);
  for (unsigned port = 0; port < card_->ports(); ++port) {
    auto& out = card_->out(port).mbufs;
    const std::uint64_t originals = after.ports[port].out - before.ports[port].out;
    for (rte_mbuf* frame : std::exchange(out, {})) {
      const bool original = passage.frame == nullptr && originals != 0;
      if (original) {
        passage.frame = frame;
        passage.to = port;
      } else {
        rte_pktmbuf_free(frame);
        ++passage.clones;
      }
    }
  }
  card_->pending().clear();
  return passage;
}

unsigned ExplainCard::port_of(const WorkerConfig& worker, Direction direction) const {
  return nic::kFirstVf +
         vf_number(config_, link_, direction == Direction::kDownlink ? link_.n3 : link_.air, worker.queue);
}

bool ExplainCard::is_of(unsigned port, const WorkerConfig& worker) const {
  return worker.n3 == link_.n3 &&
         (port == port_of(worker, Direction::kDownlink) || port == port_of(worker, Direction::kUplink));
}

}  // namespace splitplane::app

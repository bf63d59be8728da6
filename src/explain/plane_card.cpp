// The cards of `splitplane explain`: a packet passes the one in front of its worker first, and one that is returned
// passes it again.
#include <algorithm>

#include "explain/plane.h"
#include "gnb/control/contexts.h"
#include "wire/bytes.h"

namespace splitplane::app {
namespace {

constexpr unsigned kAirhdrBearerAt = 14 + 4;

Octets taken(rte_mbuf* m) {
  Octets octets(datapath::octets(m), datapath::octets(m) + m->data_len);
  rte_pktmbuf_free(m);
  return octets;
}

}  // namespace

Expected<void> ExplainPlane::make_cards() {
  for (const CardLinkConfig& link : config_.cards) {
    auto card = ExplainCard::make(config_, link);
    if (!card) return tl::unexpected(card.error());
    cards_.push_back(std::move(*card));
    const auto reader =
        std::ranges::find_if(workers_, [&](const auto& w) { return reads_punts(config_, link, *w->config); });
    for (auto& w : workers_) {
      if (reader != workers_.end() && gets_punts(config_, link, *w->config))
        add_mate((*reader)->context.mates, *w->config, {w->downlink.get(), w->uplink.get()});
    }
  }
  return {};
}

// What the reader of a card's punts handed to the worker that owns the bearer.
void ExplainPlane::work_of_mate(Worker*& w, Direction direction, Outcome& outcome) {
  for (auto& mate : workers_) {
    void* m = nullptr;
    const Ring& ring = direction == Direction::kDownlink ? mate->downlink : mate->uplink;
    if (rte_ring_sc_dequeue(ring.get(), &m) != 0) continue;
    outcome.dispatcher = std::exchange(w, mate.get())->config->name;
    return work(*w, static_cast<rte_mbuf*>(m), direction, outcome);
  }
}

ExplainCard* ExplainPlane::card_before(const Worker& w) {
  const auto at = std::ranges::find_if(cards_, [&](const auto& c) { return c->config().n3 == w.config->n3; });
  return at == cards_.end() ? nullptr : at->get();
}

bool ExplainPlane::through_card(rte_mbuf*& m, Direction direction, Worker*& w, Outcome& outcome) {
  ExplainCard* card = card_before(*w);
  if (card == nullptr) return false;
  outcome.card = card->pass(m, direction == Direction::kDownlink ? nic::kN3Port : nic::kAirPort);
  const unsigned to = outcome.card->to;
  m = std::exchange(outcome.card->frame, nullptr);
  const auto owner = std::ranges::find_if(workers_, [&](const auto& o) { return card->is_of(to, *o->config); });
  if (m != nullptr && owner != workers_.end()) {
    w = owner->get();
    return false;
  }
  if (m == nullptr) return true;
  outcome.by_card = taken(m);
  if (to == nic::kAirPort) {
    outcome.trace.bearer = wire::load_be32(outcome.by_card->data() + kAirhdrBearerAt);
    outcome.to_air.push_back(*outcome.by_card);
  } else if (to == nic::kN3Port) {
    outcome.to_n3.push_back(*outcome.by_card);
  }
  if (outcome.trace.bearer != 0) outcome.bearer = store_->find(BearerId{outcome.trace.bearer});
  return true;
}

// A returned frame gets its numbers on the card, and leaves by the air.
Expected<void> ExplainPlane::back_through_card(const Worker& w, Outcome& outcome) {
  const auto m = packet(outcome.to_n3.back());
  if (!m) return tl::unexpected(m.error());
  ExplainCard* card = card_before(w);
  const CardPassage back = card->pass(*m, card->port_of(*w.config, Direction::kDownlink));
  if (back.frame == nullptr) return {};
  outcome.by_card = taken(back.frame);
  outcome.to_air.push_back(*outcome.by_card);
  return {};
}

}  // namespace splitplane::app

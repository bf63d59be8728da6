// Cards in front of the user plane's ports: which bearers they get, which UPFs they send to, and what they counted. The
// asking is CardLink's; nothing here waits for a card that is away.
#include <algorithm>

#include "base/log.h"
#include "card/protocol/servable.h"
#include "gnb/control/instance.h"
#include "placement/card_placement.h"

namespace splitplane::app {
namespace {

constexpr unsigned kCardPeers = kStoppedCardPeer;
constexpr unsigned kHandedEntries = 1024;

}  // namespace

void UserPlane::connect_cards() {
  for (const CardLinkConfig& config : config_.cards) {
    std::vector<VfLink> vfs;
    for (const auto& port : config.vfs) vfs.push_back({port, ports_.at(port)->id()});
    CardRuntime card{.config = config,
                     .peers = {},
                     .link = std::make_unique<CardLink>(
                         CardLinkSettings{.name = config.name,
                                          .control = config.control,
                                          .vfs = vf_count(config_, config),
                                          .punt_n3 = vf_number(config_, config, config.n3, 0),
                                          .punt_air = vf_number(config_, config, config.air, 0),
                                          .by_ue_address = config_.lookup == Config::Lookup::kUeAddress,
                                          .journal = journal_of_cards()}),
                     .vfs = VfLinks(std::move(vfs))};
    cards_.push_back(std::move(card));
  }
}

// Not before the configured bearers were put: on a card that outlived an earlier run of this host they keep their
// numbers, and what is not known by then is taken off it.
void UserPlane::begin_cards() {
  look_at_vfs(std::chrono::steady_clock::now());
  for (CardRuntime& card : cards_) card.link->begin();
}

void UserPlane::look_at_vfs(Time now) {
  for (CardRuntime& card : cards_) {
    const auto why = card.vfs.look(now);
    if (!why) continue;
    card.link->set_cut_off(*why);
    // What was asked of UPFs before did not leave this host.
    if (std::exchange(card.cut_off, !why->empty()) && why->empty()) next_question_ = now;
  }
}

// The worker that reads what a card punts gives packets of the others' bearers to them.
Expected<void> UserPlane::connect_mates() {
  for (const CardLinkConfig& card : config_.cards) {
    const auto reader =
        std::ranges::find_if(workers_, [&](const auto& w) { return reads_punts(config_, card, w->config); });
    if (reader == workers_.end()) continue;
    for (const auto& worker : workers_) {
      if (!gets_punts(config_, card, worker->config)) continue;
      auto downlink = make_ring(worker->config.name + ".handed.dl", kHandedEntries);
      auto uplink = make_ring(worker->config.name + ".handed.ul", kHandedEntries);
      if (!downlink || !uplink) return tl::unexpected((downlink ? uplink : downlink).error());
      worker->gnb->handed = {*downlink, *uplink, &worker->power.wakeup()};
      add_mate((*reader)->gnb->mates, worker->config, worker->gnb->handed);
    }
  }
  return {};
}

UserPlane::CardRuntime* UserPlane::card_before(const WorkerRuntime& worker) {
  const auto at = std::ranges::find_if(cards_, [&](const CardRuntime& c) { return c.config.n3 == worker.config.n3; });
  return at == cards_.end() ? nullptr : &*at;
}

// That the card which shall serve this bearer is there, and can.
Expected<void> UserPlane::check_card(const ran::BearerConfig& config, const WorkerRuntime& worker) {
  if (config.card.empty()) return {};
  const CardLinkConfig* card = find_card(config_, config.card);
  if (card == nullptr) return fail("card: this host has no card '{}'", config.card);
  if (const auto refused = refuse_on_card(config)) return fail("card: {}", *refused);
  if (card->n3 != worker.config.n3) {
    return fail("card: worker {}, which owns bearer {:#010x}, is not behind card {}; allowed: a shard of one that is",
                worker.config.name, config.id.value, config.card);
  }
  if (worker.config.features < datapath::FeatureSet::mat)
    return fail("card: worker {} looks for no bearers; allowed: features mat, clone_drop, clone", worker.config.name);
  return {};
}

Expected<unsigned> UserPlane::peer_on(CardRuntime& card, const WorkerRuntime& worker, const IpAddress& upf) {
  std::size_t place = card.peers.size();
  for (std::size_t i = 0; i < card.peers.size(); ++i) {
    if (card.peers[i].bearers != 0 && card.peers[i].upf == upf) {
      ++card.peers[i].bearers;
      return static_cast<unsigned>(i);
    }
    if (card.peers[i].bearers == 0) place = i;
  }
  if (place == kCardPeers)
    return fail("upf: card {} sends to {} UPFs already, which is the limit", card.config.name, kCardPeers);
  if (place == card.peers.size()) card.peers.emplace_back();
  card.peers[place] = {upf, 1};
  const auto number = static_cast<unsigned>(place);
  N3Runtime& n3 = *n3_of(worker);
  if (const auto mac = mac_of(n3, upf)) {
    card.link->set_peer(card_peer(number, worker.gnb->n3, upf, *mac));
  } else {
    card.link->unset_peer(number);
  }
  return number;
}

void UserPlane::leave_peer(CardRuntime& card, const IpAddress& upf) {
  for (std::size_t i = 0; i < card.peers.size(); ++i) {
    UpfPeer& peer = card.peers[i];
    if (peer.bearers == 0 || peer.upf != upf) continue;
    if (--peer.bearers == 0) card.link->unset_peer(static_cast<unsigned>(i));
    return;
  }
}

void UserPlane::tell_cards(N3Runtime& n3, const IpAddress& hop, const std::optional<MacAddress>& mac) {
  for (CardRuntime& card : cards_) {
    if (card.config.n3 != n3.config.port || n3.workers.empty()) continue;
    for (std::size_t i = 0; i < card.peers.size(); ++i) {
      const UpfPeer& peer = card.peers[i];
      if (peer.bearers == 0 || next_hop(n3, peer.upf) != hop) continue;
      const auto number = static_cast<unsigned>(i);
      if (mac) {
        card.link->set_peer(card_peer(number, n3.workers.front()->gnb->n3, peer.upf, *mac));
      } else {
        card.link->unset_peer(number);
      }
    }
  }
}

// Every bearer of a worker behind a card has an entry there: its own, or the way to its worker.
UserPlane::CardRequests UserPlane::put_on_cards(std::span<const Installation> all) {
  CardRequests requests;
  for (CardRuntime& card : cards_) {
    std::vector<nic::CardBearer> bearers;
    for (const Installation& one : all) {
      if (card_before(*one.worker) != &card) continue;
      bearers.push_back(card_bearer(config_, card.config, one.worker->config, *one.worker->gnb, one.config,
                                    one.card_peer.value_or(kStoppedCardPeer)));
      bearers.back().next_count = one.numbers.end;
      // A card refuses what a receiver could not follow; the numbers of a bearer of ours are not its business.
      bearers.back().ahead = one.config.card.empty() ? 0 : one.numbers.end - one.numbers.heard;
      bearers.back().epoch = one.numbers.epoch;
    }
    if (!bearers.empty()) requests.push_back({card.link.get(), card.link->put(bearers)});
  }
  return requests;
}

UserPlane::CardRequests UserPlane::take_off_card(const WorkerRuntime& worker, BearerId id) {
  CardRuntime* card = card_before(worker);
  if (card == nullptr) return {};
  return {{card->link.get(), card->link->remove({&id, 1})}};
}

// Neighbours, metrics and statistics are served meanwhile.
Expected<void> UserPlane::wait_for_cards(std::unique_lock<std::mutex>& lock, const CardRequests& requests) {
  lock.unlock();
  Expected<void> result;
  const auto since = CardLink::Clock::now();
  for (const CardRequest& request : requests) {
    if (auto done = request.card->wait_for(request.asked, since); !done) result = std::move(done);
  }
  lock.lock();
  return result;
}

// As the host has it; nobody waits, since what fails now, or has neighbours to serve, has no better answer.
void UserPlane::put_soon_on_card(const WorkerRuntime& worker, const ran::BearerConfig& config) {
  CardRuntime* card = card_before(worker);
  if (card == nullptr) return;
  const auto seen = bearer_gtpu_.find(config.id.value);
  const bool stopped = seen != bearer_gtpu_.end() && seen->second.uplink_stopped();
  const auto peer =
      std::ranges::find_if(card->peers, [&](const UpfPeer& p) { return p.bearers != 0 && p.upf == config.upf; });
  const unsigned number =
      stopped || peer == card->peers.end() ? kStoppedCardPeer : static_cast<unsigned>(peer - card->peers.begin());
  card->link->put_soon(card_bearer(config_, card->config, worker.config, *worker.gnb, config, number));
}

// Of a bearer on a card the host sees what the card passed up; the card's own packets are added.
void UserPlane::add_card_numbers(std::vector<BearerView>& views) const {
  for (const CardRuntime& card : cards_) {
    std::vector<BearerId> ids;
    std::vector<BearerView*> on_card;
    for (BearerView& view : views) {
      if (view.config.card != card.config.name) continue;
      ids.push_back(view.config.id);
      on_card.push_back(&view);
    }
    const auto seen = card.link->look(ids);
    for (std::size_t i = 0; i < seen.size(); ++i) {
      BearerView& view = *on_card[i];
      const nic::CardNumbers& n = seen[i].numbers;
      view.card = {.installed = seen[i].installed,
                   .epoch = seen[i].epoch,
                   .lease_end = seen[i].lease_end,
                   .in_flight = n.in_flight,
                   .returned = view.downlink.received - view.downlink.dropped};
      view.downlink.transmitted = n.dl_packets;  // what went back to the card among them
      view.downlink.received = n.dl_packets + view.downlink.dropped;
      view.uplink.received += n.ul_packets;
      view.uplink.transmitted += n.ul_packets;
      view.pdcp_tx_next = n.pdcp_next;
      view.rlc_tx_next = n.rlc_next;
    }
  }
}

nlohmann::json UserPlane::card_rows() const {
  nlohmann::json rows = nlohmann::json::array();
  for (const CardRuntime& card : cards_) {
    const CardLinkView view = card.link->view();
    nlohmann::json row{{"name", view.name},       {"control", view.control}, {"state", view.state()},
                       {"program", view.program}, {"boot", view.boot},       {"bearers", view.bearers},
                       {"serves", view.serves},   {"waiting", view.waiting}, {"reason", view.reason}};
#define SPLITPLANE_CARD_LINK_MEMBER(field, unit, help) row[#field] = view.field;
    SPLITPLANE_CARD_LINK_COUNTERS(SPLITPLANE_CARD_LINK_MEMBER)
    rows.push_back(std::move(row));
  }
  return rows;
}

Expected<nlohmann::json> UserPlane::show_card() {
  if (cards_.empty()) return fail("this host has no card; allowed: with a section cards in its configuration");
  return nlohmann::json{{"cards", card_rows()}};
}

}  // namespace splitplane::app

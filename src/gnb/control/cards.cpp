#include "gnb/control/cards.h"

#include <rte_cycles.h>

#include <algorithm>
#include <map>

#include "card/protocol/servable.h"
#include "gnb/config/lookup.h"
#include "gnb/datapath/settle.h"
#include "placement/card_placement.h"

namespace splitplane::gnb {
namespace {

constexpr unsigned kCardPeers = kStoppedCardPeer;
constexpr unsigned kRequestEntries = 4096;
constexpr std::size_t kNoticesPerCommand = 256;            // so that no round of a worker grows long
constexpr std::chrono::milliseconds kNoticePatience{100};  // the bearers of other workers wait meanwhile

// On the worker.
void carry_out(datapath::GnbContext& gnb, std::span<const CardNotice> notices) {
  const std::uint64_t now = rte_rdtsc();
  for (const CardNotice& notice : notices) {
    switch (notice.kind) {
      case CardNotice::Kind::kGrant:
        gnb.card_returns.grant(notice.grant, now);
        break;
      case CardNotice::Kind::kRevoke:
        gnb.card_returns.revoke(notice.id(), now);
        break;
      case CardNotice::Kind::kSettleAll:
        datapath::settle_all(gnb, notice.id(), now);
        break;
    }
  }
}

}  // namespace

Expected<void> Cards::connect(const std::function<std::uint16_t(const std::string&)>& port_id,
                              const CardLinkSettings::Journal& journal) {
  for (const CardLinkConfig& config : config_.cards) {
    std::vector<VfLink> vfs;
    for (const auto& port : config.vfs) vfs.push_back({port, port_id(port)});
    Card card{.config = config,
              .upfs = {},
              .link = std::make_unique<CardLink>(
                  CardLinkSettings{.name = config.name,
                                   .control = config.control,
                                   .vfs = vf_count(config_, config),
                                   .punt_n3 = vf_number(config_, config, config.n3, 0),
                                   .punt_air = vf_number(config_, config, config.air, 0),
                                   .marks = tos_of_port(config_, config.n3),
                                   .by_ue_address = config_.lookup == GnbConfig::Lookup::kUeAddress,
                                   .punts_to_owner = punts_to_owner(config),
                                   .journal = journal,
                                   .notify = [this](std::span<const CardNotice> notices) { notify(notices); },
                                   .begin = [this](BearerId id, std::uint8_t epoch) { return begin_kept(id, epoch); },
                                   .windows = [this](std::span<const BearerId> ids) { return windows_of(ids); }}),
              .requests = std::make_unique<CardRequestReader>(),
              .vfs = VfLinks(std::move(vfs))};
    if (auto connected = connect_workers(card); !connected) return connected;
    cards_.push_back(std::move(card));
  }
  return {};
}

// Whether one worker behind the card owns all bearers, and reads the punts from the queues to which their entries lead.
bool Cards::punts_to_owner(const CardLinkConfig& card) const {
  std::size_t behind = 0;
  bool same_queue = true;
  for (const auto& worker : workers_.all()) {
    if (!worker->gnb || worker->config.n3 != card.n3) continue;
    ++behind;
    same_queue =
        same_queue && worker->config.queue == 0 && worker->config.air == card.air && !is_fed(config_, worker->config);
  }
  return behind == 1 && same_queue;
}

Expected<void> Cards::connect_workers(Card& card) {
  for (const auto& worker : workers_.all()) {
    if (!worker->gnb || worker->config.n3 != card.config.n3) continue;
    const std::string name = worker->config.name + ".returns";
    constexpr unsigned kFlags = RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ;
    NumberRing ring(rte_ring_create(name.c_str(), kRequestEntries, SOCKET_ID_ANY, kFlags));
    if (!ring) {
      return fail("no memory for ring {} of {} entries; allowed: a larger memory.megabytes", name, kRequestEntries);
    }
    const datapath::CardRequests requests(ring.get(), &card.requests->wakeup());
    worker->gnb->card_returns.connect(requests);
    card.requests->add(requests);
    request_rings_.push_back(std::move(ring));
  }
  return {};
}

// On the thread of a link.
Expected<CardLinkSettings::KeptWindow> Cards::begin_kept(BearerId id, std::uint8_t epoch) const {
  WorkerRuntime* const worker = workers_.owner_of(id.value);
  if (worker == nullptr) return CardLinkSettings::KeptWindow{};
  CardLinkSettings::KeptWindow kept;
  const bool done = worker->execute([gnb = worker->gnb.get(), id, epoch, &kept] {
    gnb->card_returns.thaw(id, rte_rdtsc());  // of a move that this worker did not answer
    datapath::ArqBearer* const arq = gnb->arq_bearers.find(id.value);
    if (arq == nullptr) return;
    if (arq->epoch != epoch) {
      const std::uint64_t now = rte_rdtsc();
      gnb->arq->reestablish(*arq, epoch, now);
      gnb->arq->await_peer(*arq, now);
      gnb->arq->show_epoch(*arq);
      gnb->bearers.uplink_line(id.value)->rlc_rx_next_highest = 0;
      gnb->session_uplinks.wait_again(id.value, now);
    }
    kept = {arq->next(), arq->next_ack(), arq->limit() - arq->next_ack()};
  });
  if (!done) return fail("worker {} does not answer, which keeps the copies of a card's bearers", worker->config.name);
  return kept;
}

// On the thread of a link.
std::vector<std::optional<CardLinkSettings::KeptWindow>> Cards::windows_of(std::span<const BearerId> ids) const {
  std::vector<std::optional<CardLinkSettings::KeptWindow>> windows(ids.size());
  for (const auto& worker : workers_.all()) {
    if (!worker->gnb || !worker->gnb->arq) continue;
    (void)worker->execute(
        [gnb = worker->gnb.get(), ids, &windows] {
          for (std::size_t i = 0; i < ids.size(); ++i) {
            const datapath::ArqBearer* const arq =
                gnb->bearers.owns(ids[i].value) ? gnb->arq_bearers.find(ids[i].value) : nullptr;
            if (arq != nullptr)
              windows[i] = {arq->next(), arq->next_ack(), arq->failed ? 0 : arq->limit() - arq->next_ack()};
          }
        },
        kNoticePatience);
  }
  return windows;
}

void Cards::notify(std::span<const CardNotice> notices) {
  std::map<WorkerRuntime*, std::vector<CardNotice>> by_worker;
  for (const CardNotice& notice : notices) {
    if (WorkerRuntime* worker = workers_.owner_of(notice.id().value)) by_worker[worker].push_back(notice);
  }
  for (auto& [worker, list] : by_worker) {
    datapath::GnbContext* gnb = worker->gnb.get();
    for (std::size_t done = 0; done < list.size(); done += kNoticesPerCommand) {
      const auto part = std::span(list).subspan(done, std::min(kNoticesPerCommand, list.size() - done));
      const bool listened =
          worker->thread.running && worker->execute([gnb, part] { carry_out(*gnb, part); }, kNoticePatience);
      if (!listened) break;  // it asks again
    }
  }
}

void Cards::begin(const Locked& locked) {
  (void)look(locked, std::chrono::steady_clock::now());
  for (Card& card : cards_) {
    CardLink* const link = card.link.get();
    link->begin();
    card.requests->begin([link](std::span<const CardRequest> requests) { link->request(requests); });
  }
}

void Cards::end() {
  for (Card& card : cards_) {
    card.requests->end();
    card.link->end();
  }
}

bool Cards::look(const Locked& /*locked*/, Time now) {
  bool is_back = false;
  for (Card& card : cards_) {
    const auto why = card.vfs.look(now);
    if (!why) continue;
    card.link->set_cut_off(*why);
    // What was asked of UPFs before did not leave this host.
    if (std::exchange(card.cut_off, !why->empty()) && why->empty()) is_back = true;
  }
  return is_back;
}

Cards::Card* Cards::before(const WorkerRuntime& worker) {
  const auto at = std::ranges::find_if(cards_, [&](const Card& c) { return c.config.n3 == worker.config.n3; });
  return at == cards_.end() ? nullptr : &*at;
}

Expected<void> Cards::check(const ran::BearerConfig& config, const WorkerRuntime& worker) const {
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

Expected<std::optional<unsigned>> Cards::join(const Locked& /*locked*/, const WorkerRuntime& worker,
                                              const IpAddress& upf) {
  Card* const card = before(worker);
  if (card == nullptr || upf.is_v6()) return std::nullopt;
  const auto known = card->upfs.find(upf);
  const auto place = known ? known : card->upfs.free_below(kCardPeers);
  if (!place) return fail("upf: card {} sends to {} UPFs already, which is the limit", card->config.name, kCardPeers);
  const auto number = static_cast<unsigned>(*place);
  if (!card->upfs.join(*place, upf)) return number;
  if (const auto mac = PeerTable::mac_of(peers_.n3_of(worker), upf)) {
    card->link->set_peer(card_peer(number, worker.gnb->n3, upf, *mac));
  } else {
    card->link->unset_peer(number);
  }
  return number;
}

void Cards::leave(const Locked& /*locked*/, const WorkerRuntime& worker, const IpAddress& upf) {
  Card* const card = before(worker);
  if (card == nullptr) return;
  if (const auto free = card->upfs.leave(upf)) card->link->unset_peer(static_cast<unsigned>(*free));
}

void Cards::tell(const Locked& /*locked*/, const N3Interface& n3, const IpAddress& hop,
                 const std::optional<MacAddress>& mac) {
  for (Card& card : cards_) {
    if (card.config.n3 != n3.config.port || n3.workers.empty()) continue;
    const auto& rows = card.upfs.rows();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].bearers == 0 || PeerTable::next_hop(n3, rows[i].upf) != hop) continue;
      const auto number = static_cast<unsigned>(i);
      if (mac) {
        card.link->set_peer(card_peer(number, n3.workers.front()->gnb->n3, rows[i].upf, *mac));
      } else {
        card.link->unset_peer(number);
      }
    }
  }
}

Cards::Requests Cards::put(const Locked& /*locked*/, std::span<const Installation> all) {
  Requests requests;
  for (Card& card : cards_) {
    std::vector<nic::CardBearer> bearers;
    for (const Installation& one : all) {
      if (before(*one.worker) != &card) continue;
      bearers.push_back(card_bearer(config_, card.config, one.worker->config, *one.worker->gnb, one.config,
                                    one.card_peer.value_or(kStoppedCardPeer)));
      if (one.session) add_flows(bearers.back(), *one.session);
      bearers.back().next_count = one.numbers.end;
      // A card refuses what a receiver could not follow; the numbers of a bearer of ours are not its business.
      bearers.back().ahead = one.config.card.empty() ? 0 : one.numbers.end - one.numbers.heard;
      bearers.back().epoch = one.numbers.epoch;
    }
    if (!bearers.empty()) requests.push_back({card.link.get(), card.link->put(bearers)});
  }
  return requests;
}

bool Cards::keep_copies(const std::string& card) const {
  const CardLinkConfig* const found = find_card(config_, card);
  return found != nullptr && found->copies.empty();
}

Cards::Requests Cards::restart(const Locked& /*locked*/, const WorkerRuntime& worker, BearerId id) {
  Card* const card = before(worker);
  if (card == nullptr) return {};
  auto asked = card->link->restart(id);
  return asked.empty() ? Requests{} : Requests{{card->link.get(), std::move(asked)}};
}

Cards::Requests Cards::take_off(const Locked& /*locked*/, const WorkerRuntime& worker, BearerId id) {
  Card* const card = before(worker);
  if (card == nullptr) return {};
  return {{card->link.get(), card->link->remove({&id, 1})}};
}

std::pair<Change, Expected<void>> Cards::wait_for(Change&& change, const Requests& requests) {
  return ControlLock::apart(std::move(change), [&requests] {
    Expected<void> result;
    const auto since = CardLink::Clock::now();
    for (const Request& request : requests) {
      if (auto done = request.card->wait_for(request.asked, since); !done) result = std::move(done);
    }
    return result;
  });
}

void Cards::put_soon(const Locked& locked, const WorkerRuntime& worker, const ran::BearerConfig& config, bool stopped) {
  if (Card* const card = before(worker); card != nullptr)
    card->link->put_soon(entry_of(locked, worker, config, stopped));
}

bool Cards::has_uplink_by_host(const Locked& /*locked*/, const WorkerRuntime& worker, BearerId id) {
  const Card* const card = before(worker);
  return card != nullptr && card->link->peer_of(id) == kStoppedCardPeer;
}

CardLink* Cards::link_before(const WorkerRuntime& worker, const std::string& name) {
  Card* const card = before(worker);
  return card != nullptr && card->config.name == name ? card->link.get() : nullptr;
}

nic::CardBearer Cards::entry_of(const Locked& /*locked*/, const WorkerRuntime& worker, const ran::BearerConfig& config,
                                bool stopped) {
  const Card& card = *before(worker);
  const auto peer = card.upfs.find(config.upf);
  const unsigned number = stopped || !peer ? kStoppedCardPeer : static_cast<unsigned>(*peer);
  return card_bearer(config_, card.config, worker.config, *worker.gnb, config, number);
}

void Cards::add_numbers(std::vector<BearerView>& views) const {
  for (const Card& card : cards_) {
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
                   .returned = view.downlink.transmitted};
      view.downlink.transmitted = n.dl_packets;  // what went back to the card among them
      view.downlink.received = n.dl_packets + view.downlink.dropped + view.downlink.held;
      view.downlink.bytes = n.dl_octets;
      view.uplink.bytes += n.ul_octets;
      view.uplink.received += n.ul_packets;
      view.uplink.transmitted += n.ul_packets;
      view.pdcp_tx_next = n.pdcp_next;
      view.rlc_tx_next = n.rlc_next;
    }
  }
}

std::vector<CardLinkView> Cards::views() const {
  std::vector<CardLinkView> all;
  for (const Card& card : cards_) all.push_back(card.link->view());
  return all;
}

nlohmann::json Cards::rows() const {
  nlohmann::json rows = nlohmann::json::array();
  for (const CardLinkView& view : views()) {
    nlohmann::json row{{"name", view.name},       {"control", view.control}, {"state", view.state()},
                       {"program", view.program}, {"boot", view.boot},       {"bearers", view.bearers},
                       {"serves", view.serves},   {"waiting", view.waiting}, {"absent", view.absent},
                       {"reason", view.reason}};
#define SPLITPLANE_CARD_LINK_MEMBER(field, unit, help) row[#field] = view.field;
    SPLITPLANE_CARD_LINK_COUNTERS(SPLITPLANE_CARD_LINK_MEMBER)
    rows.push_back(std::move(row));
  }
  return rows;
}

Expected<nlohmann::json> Cards::show() const {
  if (cards_.empty()) return fail("this host has no card; allowed: with a section cards in its configuration");
  return nlohmann::json{{"cards", rows()}};
}

}  // namespace splitplane::gnb

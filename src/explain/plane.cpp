#include "explain/plane.h"

#include <unistd.h>

#include <algorithm>

#include "gnb/config/copies_limit.h"
#include "gnb/config/host_only.h"
#include "gnb/config/lookup.h"
#include "gnb/control/contexts.h"
#include "wire/bytes.h"

namespace splitplane::app {
namespace {

using datapath::Burst;

constexpr std::size_t kCardMegabytes = 96;
constexpr std::size_t kBufferBytes = std::size_t{32} << 20;

// Lines of bearers and tables of keys.
std::size_t megabytes_of_bearers(const GnbConfig& config) {
  using Function = WorkerConfig::Function;
  const auto tables = static_cast<std::size_t>(std::ranges::count_if(config.workers, [](const WorkerConfig& worker) {
    return worker.function == Function::kGnb || worker.function == Function::kDispatch;
  }));
  const std::size_t lines = gnb::owned_shards(config).size() * gnb::bearers_per_shard(config);
  const std::size_t keys = tables * key_tables_bytes(config.lookup, config.foreign_teids, config.max_bearers);
  return ((keys + lines * ran::kBytesPerBearer) >> 20) + 1;
}

// Rings of copies, punts and handed-off packets.
std::size_t megabytes_of_rings(const GnbConfig& config) {
  std::size_t entries = 0;
  for (const WorkerConfig& worker : config.workers) entries += 2 * copies_of(config, worker) + 32768;
  return (entries * sizeof(void*) >> 20) + 1;
}

// As `splitplane run` has it, but nothing lasts: there is no journal, and no worker keeps SDUs for retransmission. So
// no bearer has a queue, and none has marks.
GnbConfig without_what_lasts(GnbConfig config) {
  config.journal.clear();
  for (WorkerConfig& worker : config.workers) worker.baas = WorkerConfig::Baas::kNone;
  for (ran::BearerGroup& group : config.bearers) group.first.ecn.reset();
  for (ran::WantedSession& session : config.sessions) {
    for (ran::SessionBearer& bearer : session.config.bearers) bearer.config.ecn.reset();
  }
  return config;
}

constexpr unsigned kAirhdrBearerAt = 14 + 4;

Octets taken(rte_mbuf* m) {
  Octets octets(datapath::octets(m), datapath::octets(m) + m->data_len);
  rte_pktmbuf_free(m);
  return octets;
}

}  // namespace

Expected<std::unique_ptr<ExplainPlane>> ExplainPlane::make(const GnbConfig& config,
                                                           const std::optional<Neighbors>& neighbors) {
  auto eal = datapath::Eal::start({.file_prefix = fmt::format("splitplane-explain-{}", ::getpid()),
                                   .megabytes = 64 + megabytes_of_bearers(config) + megabytes_of_rings(config) +
                                                kCardMegabytes * config.cards.size(),
                                   .hugepages = false,
                                   .alone = true,
                                   .log_level = "error"});
  if (!eal) return tl::unexpected(eal.error());
  return make_on(std::move(*eal), config, neighbors);
}

Expected<std::unique_ptr<ExplainPlane>> ExplainPlane::make_on(std::optional<datapath::Eal> eal, const GnbConfig& config,
                                                              const std::optional<Neighbors>& neighbors) {
  std::unique_ptr<ExplainPlane> plane(new ExplainPlane(config, std::move(eal)));
  if (const auto built = plane->build(neighbors); !built) return tl::unexpected(built.error());
  return plane;
}

ExplainPlane::ExplainPlane(const GnbConfig& config, std::optional<datapath::Eal> eal)
    : eal_(std::move(eal)), parts_(without_what_lasts(config)) {}

ExplainPlane::~ExplainPlane() = default;

Expected<void> ExplainPlane::build(const std::optional<Neighbors>& neighbors) {
  const GnbConfig& config = parts_.config;
  const auto room = static_cast<std::uint16_t>(config.memory.mbuf_data_bytes + RTE_PKTMBUF_HEADROOM);
  // Bearers that put packets in order may hold many.
  const auto buffers = static_cast<unsigned>(std::clamp<std::size_t>(kBufferBytes / (room + 256U), 127, 8191));
  pool_.reset(rte_pktmbuf_pool_create("explain", buffers, 0, 0, room, SOCKET_ID_ANY));
  if (!pool_) return fail("no memory for packet buffers of {} octets", config.memory.mbuf_data_bytes);
  if (auto made = parts_.wiring.make_without_ports(parts_.workers, parts_.peers, pool_.get()); !made) return made;
  for (const auto& worker : parts_.workers.all()) {
    if (worker->dispatch) {
      dispatcher_ = worker.get();
      worker->dispatch->punt.rates = {};  // a story of one packet has no rate
    }
    if (!worker->gnb) continue;
    worker->gnb->punt.rates = {};
    workers_.push_back(
        std::make_unique<ExplainWorker>(*worker, *std::ranges::find(config.n3, worker->config.n3, &N3Config::port)));
  }
  if (workers_.empty()) return fail("no worker has function gnb; allowed: a configuration with bearers");
  if (auto added = parts_.bearers.restore(config.journal); !added) return added;
  resolve_next_hops(neighbors);
  return make_cards();
}

// This program sends no ARP requests. Without a running instance to ask, zeros stand for what a request would find.
void ExplainPlane::resolve_next_hops(const std::optional<Neighbors>& neighbors) {
  const gnb::Locked locked = parts_.control.lock();
  for (gnb::N3Interface& n3 : parts_.peers.interfaces(locked)) {
    if (n3.config.peer_mac) continue;
    for (const IpAddress& upf : gnb::PeerTable::upfs(n3)) {
      MacAddress mac{};
      if (neighbors) {
        const auto known = neighbors->find(upf);
        if (known == neighbors->end()) continue;
        mac = known->second;
      }
      (void)parts_.peers.tell(locked, n3, gnb::PeerTable::next_hop(n3, upf), mac);  // workers that do not run listen
    }
  }
}

// Without a dispatcher each worker has its own ports, or its own queues behind a card: a frame comes in where its
// address or its bearer belongs.
ExplainWorker& ExplainPlane::port_of(const Octets& frame, Direction direction) {
  ExplainWorker* by_address = nullptr;
  for (auto& w : workers_) {
    if (direction == Direction::kUplink) {
      if (frame.size() >= 24 && w->context().bearers.owns(wire::load_be32(frame.data() + 18))) return *w;
      continue;
    }
    datapath::GPdu gpdu;
    const auto parsed = datapath::parse_n3(frame.data(), static_cast<unsigned>(frame.size()), w->context().n3, gpdu);
    if (parsed.verdict == datapath::N3Verdict::kDrop && parsed.reason == datapath::DropReason::not_for_us) continue;
    if (parsed.verdict == datapath::N3Verdict::kGPdu && w->context().bearers.owns(gpdu.teid)) return *w;
    if (by_address == nullptr) by_address = w.get();
  }
  return by_address == nullptr ? *workers_.front() : *by_address;
}

// Fills buffers as a driver does: what does not fit one continues in the next.
Expected<rte_mbuf*> ExplainPlane::packet(const Octets& frame) {
  rte_mbuf* head = nullptr;
  std::size_t at = 0;
  do {
    rte_mbuf* m = rte_pktmbuf_alloc(pool_.get());
    const std::size_t n = std::min<std::size_t>(parts_.config.memory.mbuf_data_bytes, frame.size() - at);
    char* room = m == nullptr ? nullptr : rte_pktmbuf_append(m, static_cast<std::uint16_t>(n));
    if (room == nullptr || (head != nullptr && rte_pktmbuf_chain(head, m) != 0)) {
      rte_pktmbuf_free(m);
      rte_pktmbuf_free(head);
      return fail("{} octets do not fit the packet buffers", frame.size());
    }
    std::copy_n(frame.data() + at, n, room);
    if (head == nullptr) head = m;
    at += n;
  } while (at < frame.size());
  return head;
}

ExplainWorker* ExplainPlane::dispatch(rte_mbuf* m, Direction direction, Outcome& outcome) {
  datapath::DispatchContext& context = *dispatcher_->dispatch;
  outcome.dispatcher = dispatcher_->config.name;
  const auto before = drops_of(context.stats);
  datapath::Dispatch dispatcher(context, {});
  datapath::Dispatch::Queue queue{{}, direction};
  Burst burst;
  burst.mbuf[0] = m;
  burst.size = 1;
  dispatcher.process(queue, burst);
  outcome.dropped = reason_since(before, context.stats);
  outcome.punted = take_punted(context.punt);
  for (auto& w : workers_) {
    if (w->has_packets()) return w.get();
  }
  return nullptr;
}

void ExplainPlane::work(ExplainWorker& w, rte_mbuf* m, Direction direction, Outcome& outcome) {
  w.work(m, direction, outcome);
  find_bearer(w, outcome);
}

void ExplainPlane::find_bearer(const ExplainWorker& w, Outcome& outcome) const {
  if (outcome.trace.bearer == 0) return;
  outcome.bearer = parts_.store.find(BearerId{outcome.trace.bearer});
  outcome.session = parts_.store.session_of(BearerId{outcome.trace.bearer});
  if (outcome.bearer == nullptr || parts_.config.cards.empty()) return;
  const CardLinkConfig* const card = app::card_before(parts_.config, w.config().n3);
  const auto why = host_only(parts_.config, w.config(), *outcome.bearer, outcome.session != nullptr);
  const placement::Pins::Pin* const pin = parts_.pins.of(outcome.bearer->id);
  outcome.may_live = {.card = card == nullptr ? "" : card->name,
                      .why = why,
                      .mode = parts_.config.placement.mode,
                      .pinned_to = pin == nullptr ? "" : pin->to};
}

Expected<Outcome> ExplainPlane::run(const Octets& frame, Direction direction) {
  auto m = packet(frame);
  if (!m) return tl::unexpected(m.error());
  Outcome outcome;
  ExplainWorker* w = &port_of(frame, direction);
  if (through_card(*m, direction, w, outcome)) {
    outcome.n3 = &w->n3();
    return outcome;
  }
  if (dispatcher_ != nullptr) {
    w = dispatch(*m, direction, outcome);
    if (w != nullptr) *m = w->take(direction);
  }
  outcome.n3 = w != nullptr ? &w->n3() : &workers_.front()->n3();
  if (w != nullptr) {
    work(*w, *m, direction, outcome);
    work_of_handed_off(w, direction, outcome);
    outcome.n3 = &w->n3();
  }
  if (w != nullptr && outcome.returned) {
    if (auto back = back_through_card(*w, outcome); !back) return tl::unexpected(back.error());
  }
  return outcome;
}

// The cards with the bearers that `splitplane run` would install there.
Expected<void> ExplainPlane::make_cards() {
  for (const CardLinkConfig& link : parts_.config.cards) {
    auto card = ExplainCard::make(parts_.config, link);
    if (!card) return tl::unexpected(card.error());
    cards_.push_back(std::move(*card));
  }
  for (const ran::BearerConfig& bearer : parts_.store.after(0, parts_.store.size())) {
    const auto owner =
        std::ranges::find_if(workers_, [&](const auto& w) { return w->context().bearers.owns(bearer.id.value); });
    const ExplainWorker& w = **owner;
    ExplainCard* const card = card_before(w);
    if (card == nullptr) continue;
    if (auto done = card->install(w.config(), w.context(), bearer, w.n3().peer_mac); !done) return done;
  }
  return {};
}

// Works on what the reader of a card's punts handed off to the worker that owns the bearer.
void ExplainPlane::work_of_handed_off(ExplainWorker*& w, Direction direction, Outcome& outcome) {
  for (auto& owner : workers_) {
    rte_mbuf* const m = owner->take(direction);
    if (m == nullptr) continue;
    outcome.dispatcher = std::exchange(w, owner.get())->config().name;
    return work(*w, m, direction, outcome);
  }
}

ExplainCard* ExplainPlane::card_before(const ExplainWorker& w) {
  const auto at = std::ranges::find_if(cards_, [&](const auto& c) { return c->config().n3 == w.config().n3; });
  return at == cards_.end() ? nullptr : at->get();
}

bool ExplainPlane::through_card(rte_mbuf*& m, Direction direction, ExplainWorker*& w, Outcome& outcome) {
  ExplainCard* card = card_before(*w);
  if (card == nullptr) return false;
  outcome.card = card->pass(m, direction == Direction::kDownlink ? nic::kN3Port : nic::kAirPort);
  const unsigned to = outcome.card->to;
  m = std::exchange(outcome.card->frame, nullptr);
  const auto owner = std::ranges::find_if(workers_, [&](const auto& o) { return card->is_of(to, o->config()); });
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
  find_bearer(*w, outcome);
  return true;
}

// A returned frame gets its numbers on the card, and leaves by the air.
Expected<void> ExplainPlane::back_through_card(const ExplainWorker& w, Outcome& outcome) {
  const auto m = packet(outcome.to_n3.back());
  if (!m) return tl::unexpected(m.error());
  ExplainCard* card = card_before(w);
  const CardPassage back = card->pass(*m, card->port_of(w.config(), Direction::kDownlink));
  if (back.frame == nullptr) return {};
  outcome.by_card = taken(back.frame);
  outcome.to_air.push_back(*outcome.by_card);
  return {};
}

}  // namespace splitplane::app

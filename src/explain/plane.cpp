#include "explain/plane.h"

#include <unistd.h>

#include <algorithm>

#include "config/lookup.h"
#include "gnb/control/contexts.h"
#include "wire/bytes.h"

namespace splitplane::app {
namespace {

using datapath::Burst;

constexpr std::size_t kCardMegabytes = 96;
constexpr std::size_t kBufferBytes = std::size_t{32} << 20;

// Beside the packet buffers.
std::size_t megabytes_of_keys(const Config& config) {
  std::size_t bearers = 0, tables = 0;
  for (const auto& group : config.bearers) bearers += group.count;
  for (const auto& worker : config.workers) {
    using Function = WorkerConfig::Function;
    tables += worker.function == Function::kGnb || worker.function == Function::kDispatch ? 1 : 0;
  }
  const std::size_t teids = config.foreign_teids == 0 ? 0 : bearers;
  return (tables * key_tables_bytes(config.lookup, teids, bearers) >> 20) + 1;
}

constexpr unsigned kAirhdrBearerAt = 14 + 4;

Octets taken(rte_mbuf* m) {
  Octets octets(datapath::octets(m), datapath::octets(m) + m->data_len);
  rte_pktmbuf_free(m);
  return octets;
}

}  // namespace

Expected<std::unique_ptr<ExplainPlane>> ExplainPlane::make(const Config& config,
                                                           const std::optional<Neighbors>& neighbors) {
  auto eal = datapath::Eal::start({.file_prefix = fmt::format("splitplane-explain-{}", ::getpid()),
                                   .megabytes = 64 + megabytes_of_keys(config) + kCardMegabytes * config.cards.size(),
                                   .hugepages = false,
                                   .alone = true,
                                   .log_level = "error"});
  if (!eal) return tl::unexpected(eal.error());
  return make_on(std::move(*eal), config, neighbors);
}

Expected<std::unique_ptr<ExplainPlane>> ExplainPlane::make_on(std::optional<datapath::Eal> eal, const Config& config,
                                                              const std::optional<Neighbors>& neighbors) {
  std::unique_ptr<ExplainPlane> plane(new ExplainPlane(config, neighbors, std::move(eal)));
  const auto room = static_cast<std::uint16_t>(config.memory.mbuf_data_bytes + RTE_PKTMBUF_HEADROOM);
  // Bearers that put packets in order may hold many.
  const auto buffers = static_cast<unsigned>(std::clamp<std::size_t>(kBufferBytes / (room + 256U), 127, 8191));
  plane->pool_.reset(rte_pktmbuf_pool_create("explain", buffers, 0, 0, room, SOCKET_ID_ANY));
  if (!plane->pool_) return fail("no memory for packet buffers of {} octets", config.memory.mbuf_data_bytes);
  if (const auto made = plane->make_workers(); !made) return tl::unexpected(made.error());
  if (const auto made = plane->make_cards(); !made) return tl::unexpected(made.error());
  if (const auto made = plane->add_bearers(); !made) return tl::unexpected(made.error());
  if (const auto made = plane->make_dispatcher(); !made) return tl::unexpected(made.error());
  return plane;
}

ExplainPlane::~ExplainPlane() = default;

Expected<void> ExplainPlane::make_workers() {
  for (const auto& config : config_.workers) {
    if (config.function == WorkerConfig::Function::kDispatch) dispatcher_ = &config;
    if (config.function != WorkerConfig::Function::kGnb) continue;
    auto worker = ExplainWorker::make(config_, config, pool_.get());
    if (!worker) return tl::unexpected(worker.error());
    workers_.push_back(*std::move(worker));
  }
  if (workers_.empty()) return fail("no worker has function gnb; allowed: a configuration with bearers");
  return {};
}

// Identities come out as in `splitplane run`: the same store, the same shards, the same order.
Expected<void> ExplainPlane::add_bearers() {
  std::vector<ShardId> owned;
  const auto per_shard = static_cast<std::uint32_t>((config_.max_bearers + ran::kShards - 1) / ran::kShards);
  for (unsigned shard = 0; shard < ran::kShards; ++shard) {
    for (auto& w : workers_) {
      if (shard < w->config().shard_first || shard > w->config().shard_last) continue;
      owned.push_back(ShardId{static_cast<std::uint8_t>(shard)});
      break;
    }
  }
  for (auto& w : workers_) w->make_lines(per_shard);
  const bool by_ue_address = config_.lookup == Config::Lookup::kUeAddress;
  store_ = std::make_unique<BearerStore>(config_.instance, owned, per_shard, by_ue_address);
  std::size_t bearers = 0;  // no others will come
  for (const auto& group : config_.bearers) bearers += group.count;
  const std::size_t teids = config_.foreign_teids == 0 ? 0 : bearers;
  for (auto& w : workers_) {
    auto made = w->make_keys(teids, bearers);
    if (!made) return made;
  }
  if (dispatcher_ != nullptr) {
    auto made =
        make_key_tables(dispatch_.keys, dispatch_key_memory_, config_.lookup, teids, bearers, dispatcher_->name);
    if (!made) return made;
  }
  for (const auto& group : config_.bearers) {
    for (std::size_t i = 0; i < group.count; ++i) {
      const auto added = store_->add(bearer_at(group, i), group.shard);
      const auto done = added ? install(*added) : Expected<void>(tl::unexpected(added.error()));
      if (!done) return fail("bearers: number {} of a group of {}: {}", i + 1, group.count, done.error().message);
    }
  }
  return {};
}

// This program sends no ARP requests. Without a running instance to ask, zeros stand for what a request would find.
std::optional<MacAddress> ExplainPlane::mac_of(const N3Config& n3, const IpAddress& upf) const {
  if (n3.peer_mac) return n3.peer_mac;
  if (!neighbors_) return MacAddress{};
  const auto known = neighbors_->find(upf);
  return known == neighbors_->end() ? std::nullopt : std::optional(known->second);
}

Expected<void> ExplainPlane::install(const ran::BearerConfig& bearer) {
  const std::uint32_t id = bearer.id.value;
  ExplainWorker& w =
      **std::find_if(workers_.begin(), workers_.end(), [&](auto& o) { return o->context().bearers.owns(id); });
  const auto peer = w.peer_of(bearer.upf, [&](const IpAddress& upf) { return mac_of(w.n3(), upf); });
  if (!peer) return tl::unexpected(peer.error());
  const bool behind =
      dispatcher_ != nullptr && std::count(dispatcher_->to.begin(), dispatcher_->to.end(), w.config().name) != 0;
  bool room = datapath::enter(w.context().keys, bearer) && (!behind || datapath::enter(dispatch_.keys, bearer));
  for (auto& reader : workers_) {
    if (reader->context().punt_handoff.has_worker(id)) room = room && datapath::enter(reader->context().keys, bearer);
  }
  if (!room) return fail("bearer {:#010x}: the table of keys is full", id);
  if (bearer.n3_reorder) w.context().reorder.open(bearer.id, *bearer.n3_reorder, rte_get_tsc_hz());
  const bool on_card = !bearer.card.empty();
  *w.context().bearers.downlink_line(id) = on_card ? ran::make_on_card(bearer) : ran::make_downlink(bearer);
  *w.context().bearers.uplink_line(id) = ran::make_uplink(bearer, *peer);
  if (ExplainCard* card = card_before(w)) {
    if (auto done = card->install(w.config(), w.context(), bearer, w.n3().peer_mac); !done) return done;
  }
  if (w.context().fixed_bearer.id == 0 && !on_card) w.context().fixed_bearer = ran::make_downlink(bearer);
  return {};
}

Expected<void> ExplainPlane::make_dispatcher() {
  if (dispatcher_ == nullptr) return {};
  fill(dispatch_, facts_of(config_, dispatcher_->n3));
  auto punt = make_explain_ring(dispatcher_->name + ".punt");
  if (!punt) return tl::unexpected(punt.error());
  dispatch_punt_ = std::move(*punt);
  dispatch_.punt = dispatch_punt_.get();
  for (auto& w : workers_) {
    if (std::count(dispatcher_->to.begin(), dispatcher_->to.end(), w->config().name) == 0) continue;
    feed(dispatch_, w->config(), w->context(), w->rings());
  }
  return {};
}

// Without a dispatcher each worker has its own ports, or its own queues behind a card: a frame comes in where its
// address or its bearer belongs.
ExplainWorker& ExplainPlane::port_of(const Octets& frame, Direction direction) {
  ExplainWorker* by_address = nullptr;
  for (auto& w : workers_) {
    if (direction == Direction::kUplink) {
      if (frame.size() >= 22 && w->context().bearers.owns(wire::load_be32(frame.data() + 18))) return *w;
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
    const std::size_t n = std::min<std::size_t>(config_.memory.mbuf_data_bytes, frame.size() - at);
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
  outcome.dispatcher = dispatcher_->name;
  const auto before = drops_of(dispatch_.stats);
  datapath::Dispatch dispatcher(dispatch_, {});
  datapath::Dispatch::Queue queue{{}, direction};
  Burst burst;
  burst.mbuf[0] = m;
  burst.size = 1;
  dispatcher.process(queue, burst);
  outcome.dropped = reason_since(before, dispatch_.stats);
  if (rte_mbuf* punted = take_from(dispatch_punt_); punted != nullptr) {
    outcome.punted = octets_of(punted);
    rte_pktmbuf_free(punted);
  }
  for (auto& w : workers_) {
    if (w->has_packets()) return w.get();
  }
  return nullptr;
}

void ExplainPlane::work(ExplainWorker& w, rte_mbuf* m, Direction direction, Outcome& outcome) {
  w.work(m, direction, outcome);
  if (outcome.trace.bearer != 0) outcome.bearer = store_->find(BearerId{outcome.trace.bearer});
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
    work_of_mate(w, direction, outcome);
    outcome.n3 = &w->n3();
  }
  if (w != nullptr && outcome.returned) {
    if (auto back = back_through_card(*w, outcome); !back) return tl::unexpected(back.error());
  }
  return outcome;
}

Expected<void> ExplainPlane::make_cards() {
  for (const CardLinkConfig& link : config_.cards) {
    auto card = ExplainCard::make(config_, link);
    if (!card) return tl::unexpected(card.error());
    cards_.push_back(std::move(*card));
    const auto reader =
        std::ranges::find_if(workers_, [&](const auto& w) { return reads_punts(config_, link, w->config()); });
    for (auto& w : workers_) {
      if (reader != workers_.end() && gets_punts(config_, link, w->config()))
        add_worker((*reader)->context().punt_handoff, w->config(), w->rings());
    }
  }
  return {};
}

// Works on what the reader of a card's punts handed to the worker that owns the bearer.
void ExplainPlane::work_of_mate(ExplainWorker*& w, Direction direction, Outcome& outcome) {
  for (auto& mate : workers_) {
    rte_mbuf* const m = mate->take(direction);
    if (m == nullptr) continue;
    outcome.dispatcher = std::exchange(w, mate.get())->config().name;
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
  if (outcome.trace.bearer != 0) outcome.bearer = store_->find(BearerId{outcome.trace.bearer});
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

#include "explain/plane.h"

#include <unistd.h>

#include <algorithm>

#include "config/check.h"
#include "gnb/control/contexts.h"
#include "gnb/datapath/downlink.h"
#include "gnb/datapath/uplink.h"

namespace splitplane::app {
namespace {

using datapath::Burst;
using datapath::FeatureSet;

constexpr unsigned kRingEntries = 16;
constexpr std::size_t kCardMegabytes = 96;
constexpr std::size_t kBufferBytes = std::size_t{32} << 20;

Octets octets_of(rte_mbuf* m) {
  Octets all(m->pkt_len);
  const auto* at = static_cast<const std::uint8_t*>(rte_pktmbuf_read(m, 0, m->pkt_len, all.data()));
  if (at != nullptr && at != all.data()) std::copy_n(at, all.size(), all.begin());
  return all;
}

// In the place of a port: keeps the octets.
struct KeepingSink {
  std::vector<SentFrame>* frames = nullptr;
  unsigned send(rte_mbuf** mbufs, unsigned n) {
    for (unsigned i = 0; i < n; ++i) {
      frames->push_back({mbufs[i], octets_of(mbufs[i])});
      rte_pktmbuf_free(mbufs[i]);
    }
    return n;
  }
};

template <FeatureSet F>
struct Pipelines {
  Pipelines(datapath::GnbContext& context, std::vector<SentFrame>& air, std::vector<SentFrame>& n3)
      : downlink(context, {&air}, {&n3}), uplink(context, {&n3}) {}
  datapath::GnbDownlink<F, KeepingSink, datapath::TraceProbe> downlink;
  datapath::GnbUplink<F, KeepingSink, datapath::TraceProbe> uplink;
};

Expected<Ring> make_ring(const std::string& name) {
  Ring ring(rte_ring_create(name.c_str(), kRingEntries, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ));
  if (!ring) return fail("no memory for ring {}", name);
  return ring;
}

rte_mbuf* take(const Ring& ring) {
  void* packet = nullptr;
  return rte_ring_sc_dequeue(ring.get(), &packet) == 0 ? static_cast<rte_mbuf*>(packet) : nullptr;
}

// As configured. No card sets flags here: what it would verify is verified.
PortFacts facts_of(const Config& config, const std::string& name) {
  const PortConfig& port = *find_port(config, name);
  const bool verified = port.checksum.value_or(datapath::ChecksumMode::off) != datapath::ChecksumMode::off;
  return {{}, port.mtu, verified ? datapath::ChecksumMode::software : datapath::ChecksumMode::off};
}

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

std::optional<datapath::DropReason> reason_in(const datapath::WorkerStats& stats,
                                              const std::array<std::uint64_t, datapath::kDropReasonCount>& before) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (stats.drops[i].get() != before[i]) return static_cast<datapath::DropReason>(i);
  }
  return std::nullopt;
}

std::array<std::uint64_t, datapath::kDropReasonCount> drops_of(const datapath::WorkerStats& stats) {
  std::array<std::uint64_t, datapath::kDropReasonCount> now{};
  for (std::size_t i = 0; i < now.size(); ++i) now[i] = stats.drops[i].get();
  return now;
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
  std::unique_ptr<ExplainPlane> plane(new ExplainPlane(config, neighbors, std::move(*eal)));
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
    workers_.push_back(std::make_unique<Worker>());
    Worker& w = *workers_.back();
    w.config = &config;
    w.n3 = &*std::find_if(config_.n3.begin(), config_.n3.end(), [&](const N3Config& n) { return n.port == config.n3; });
    for (const auto& [ring, what] :
         {std::pair{&w.copies, "copies"}, {&w.punt, "punt"}, {&w.downlink, "dl"}, {&w.uplink, "ul"}}) {
      auto made = make_ring(config.name + "." + what);
      if (!made) return tl::unexpected(made.error());
      *ring = std::move(*made);
    }
    fill(w.context, config_, config, facts_of(config_, config.n3), facts_of(config_, config.air));
    w.context.copies = w.copies.get();
    w.context.punt = w.punt.get();
    w.context.pool = pool_.get();

    const auto with = [&]<FeatureSet F>() {
      const auto pipes = std::make_shared<Pipelines<F>>(w.context, w.air, w.to_n3);
      w.process = [pipes](Burst& burst, Direction direction) {
        direction == Direction::kDownlink ? pipes->downlink.process(burst) : pipes->uplink.process(burst);
      };
      w.trace = [pipes](Direction direction) -> const datapath::Trace& {
        return direction == Direction::kDownlink ? pipes->downlink.probe().trace() : pipes->uplink.probe().trace();
      };
    };
    switch (config.features) {
      case FeatureSet::drop:
        with.template operator()<FeatureSet::drop>();
        break;
      case FeatureSet::l2fwd:
        with.template operator()<FeatureSet::l2fwd>();
        break;
      case FeatureSet::decap:
        with.template operator()<FeatureSet::decap>();
        break;
      case FeatureSet::headers:
        with.template operator()<FeatureSet::headers>();
        break;
      case FeatureSet::mat:
        with.template operator()<FeatureSet::mat>();
        break;
      case FeatureSet::clone_drop:
        with.template operator()<FeatureSet::clone_drop>();
        break;
      case FeatureSet::clone:
        with.template operator()<FeatureSet::clone>();
        break;
    }
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
      if (shard < w->config->shard_first || shard > w->config->shard_last) continue;
      owned.push_back(ShardId{static_cast<std::uint8_t>(shard)});
      break;
    }
  }
  for (auto& w : workers_) {
    const std::size_t lines = std::size_t{w->config->shard_last - w->config->shard_first + 1} * per_shard;
    w->downlink_lines.resize(lines);
    w->uplink_lines.resize(lines);
    w->losses.resize(lines);
    for (unsigned shard = w->config->shard_first; shard <= w->config->shard_last; ++shard) {
      const std::size_t first = std::size_t{shard - w->config->shard_first} * per_shard;
      w->context.bearers.attach(ShardId{static_cast<std::uint8_t>(shard)},
                                {&w->downlink_lines[first], &w->uplink_lines[first], &w->losses[first], per_shard});
    }
  }
  const bool by_ue_address = config_.lookup == Config::Lookup::kUeAddress;
  store_ = std::make_unique<BearerStore>(config_.instance, owned, per_shard, by_ue_address);
  std::size_t bearers = 0;  // no others will come
  for (const auto& group : config_.bearers) bearers += group.count;
  const std::size_t teids = config_.foreign_teids == 0 ? 0 : bearers;
  for (auto& w : workers_) {
    auto made = make_key_tables(w->context.keys, w->key_memory, config_.lookup, teids, bearers, w->config->name);
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

// Nobody answers ARP here: without a running instance to ask, zeros stand for what it would learn.
std::optional<MacAddress> ExplainPlane::mac_of(const N3Config& n3, const IpAddress& upf) const {
  if (n3.peer_mac) return n3.peer_mac;
  if (!neighbors_) return MacAddress{};
  const auto known = neighbors_->find(upf);
  return known == neighbors_->end() ? std::nullopt : std::optional(known->second);
}

Expected<void> ExplainPlane::install(const ran::BearerConfig& bearer) {
  const std::uint32_t id = bearer.id.value;
  Worker& w = **std::find_if(workers_.begin(), workers_.end(), [&](auto& o) { return o->context.bearers.owns(id); });
  const auto known = std::find(w.upfs.begin(), w.upfs.end(), bearer.upf);
  const auto place = static_cast<std::size_t>(known - w.upfs.begin());
  if (known == w.upfs.end()) {
    if (place == datapath::kMaxPeers) return fail("worker {} sends to {} UPFs already", w.config->name, place);
    if (bearer.upf.is_v6() ? !w.n3->ipv6 : !w.n3->ipv4) {
      return fail("upf: {} cannot be reached: N3 port {} has no address of that family", bearer.upf.to_string(),
                  w.n3->port);
    }
    w.upfs.push_back(bearer.upf);
    w.context.peers[place] = datapath::make_peer(w.context.n3, bearer.upf, mac_of(*w.n3, bearer.upf));
  }
  const bool behind =
      dispatcher_ != nullptr && std::count(dispatcher_->to.begin(), dispatcher_->to.end(), w.config->name) != 0;
  bool room = datapath::enter(w.context.keys, bearer) && (!behind || datapath::enter(dispatch_.keys, bearer));
  for (auto& reader : workers_) {
    if (reader->context.mates.own(id)) room = room && datapath::enter(reader->context.keys, bearer);
  }
  if (!room) return fail("bearer {:#010x}: the table of keys is full", id);
  if (bearer.n3_reorder) w.context.reorder.open(bearer.id, *bearer.n3_reorder, rte_get_tsc_hz());
  const bool on_card = !bearer.card.empty();
  *w.context.bearers.downlink_line(id) = on_card ? ran::make_on_card(bearer) : ran::make_downlink(bearer);
  *w.context.bearers.uplink_line(id) = ran::make_uplink(bearer, PeerId{static_cast<std::uint16_t>(place)});
  if (ExplainCard* card = card_before(w)) {
    if (auto done = card->install(*w.config, w.context, bearer, w.n3->peer_mac); !done) return done;
  }
  if (w.context.fixed_bearer.id == 0 && !on_card) w.context.fixed_bearer = ran::make_downlink(bearer);
  return {};
}

Expected<void> ExplainPlane::make_dispatcher() {
  if (dispatcher_ == nullptr) return {};
  fill(dispatch_, facts_of(config_, dispatcher_->n3));
  auto punt = make_ring(dispatcher_->name + ".punt");
  if (!punt) return tl::unexpected(punt.error());
  dispatch_punt_ = std::move(*punt);
  dispatch_.punt = dispatch_punt_.get();
  for (auto& w : workers_) {
    if (std::count(dispatcher_->to.begin(), dispatcher_->to.end(), w->config->name) == 0) continue;
    feed(dispatch_, *w->config, w->context, {w->downlink.get(), w->uplink.get()});
  }
  return {};
}

// Without a dispatcher each worker has its own ports, or its own queues behind a card: a frame comes in where its
// address or its bearer belongs.
ExplainPlane::Worker& ExplainPlane::port_of(const Octets& frame, Direction direction) {
  Worker* by_address = nullptr;
  for (auto& w : workers_) {
    if (direction == Direction::kUplink) {
      if (frame.size() >= 22 && w->context.bearers.owns(wire::load_be32(frame.data() + 18))) return *w;
      continue;
    }
    datapath::GPdu gpdu;
    const auto parsed = datapath::parse_n3(frame.data(), static_cast<unsigned>(frame.size()), w->context.n3, gpdu);
    if (parsed.verdict == datapath::N3Verdict::kDrop && parsed.reason == datapath::DropReason::not_for_us) continue;
    if (parsed.verdict == datapath::N3Verdict::kGPdu && w->context.bearers.owns(gpdu.teid)) return *w;
    if (by_address == nullptr) by_address = w.get();
  }
  return by_address == nullptr ? *workers_.front() : *by_address;
}

// As a driver fills its buffers: what does not fit one continues in the next.
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

ExplainPlane::Worker* ExplainPlane::dispatch(rte_mbuf* m, Direction direction, Outcome& outcome) {
  outcome.dispatcher = dispatcher_->name;
  const auto before = drops_of(dispatch_.stats);
  datapath::Dispatch dispatcher(dispatch_, {});
  datapath::Dispatch::Queue queue{{}, direction};
  Burst burst;
  burst.mbuf[0] = m;
  burst.size = 1;
  dispatcher.process(queue, burst);
  outcome.dropped = reason_in(dispatch_.stats, before);
  if (rte_mbuf* punted = take(dispatch_punt_); punted != nullptr) {
    outcome.punted = octets_of(punted);
    rte_pktmbuf_free(punted);
  }
  for (auto& w : workers_) {
    if (rte_ring_count(w->downlink.get()) + rte_ring_count(w->uplink.get()) != 0) return w.get();
  }
  return nullptr;
}

void ExplainPlane::work(Worker& w, rte_mbuf* m, Direction direction, Outcome& outcome) {
  outcome.worker = w.config->name;
  const auto before = drops_of(w.context.stats);
  const std::uint64_t returned = w.context.stats.returned.get();
  const std::uint64_t control = w.context.stats.rlc_control.get(), copied = w.context.stats.copies.get();
  Burst burst;
  burst.mbuf[0] = m;
  burst.size = 1;
  w.process(burst, direction);
  outcome.trace = w.trace(direction);
  outcome.dropped = reason_in(w.context.stats, before);
  outcome.rlc_control = w.context.stats.rlc_control.get() != control;
  outcome.copies = w.context.stats.copies.get() - copied;
  while (rte_mbuf* copy = take(w.copies)) rte_pktmbuf_free(copy);
  if (rte_mbuf* punted = take(w.punt); punted != nullptr) {
    outcome.punted = octets_of(punted);
    rte_pktmbuf_free(punted);
  }
  for (auto& sent : std::exchange(w.air, {})) {
    if (sent.packet == m) outcome.own_in_air = outcome.to_air.size();
    outcome.to_air.push_back(std::move(sent.octets));
  }
  for (auto& sent : std::exchange(w.to_n3, {})) outcome.to_n3.push_back(std::move(sent.octets));
  outcome.returned = w.context.stats.returned.get() != returned;
  // A returned frame names its bearer where an air frame does.
  if (outcome.returned) outcome.trace.bearer = wire::load_be32(outcome.to_n3.back().data() + 18);
  if (outcome.trace.bearer != 0) outcome.bearer = store_->find(BearerId{outcome.trace.bearer});
}

Expected<Outcome> ExplainPlane::run(const Octets& frame, Direction direction) {
  auto m = packet(frame);
  if (!m) return tl::unexpected(m.error());
  Outcome outcome;
  Worker* w = &port_of(frame, direction);
  if (through_card(*m, direction, w, outcome)) {
    outcome.n3 = w->n3;
    return outcome;
  }
  if (dispatcher_ != nullptr) {
    w = dispatch(*m, direction, outcome);
    if (w != nullptr) *m = take(direction == Direction::kDownlink ? w->downlink : w->uplink);
  }
  outcome.n3 = w != nullptr ? w->n3 : workers_.front()->n3;
  if (w != nullptr) {
    work(*w, *m, direction, outcome);
    work_of_mate(w, direction, outcome);
    outcome.n3 = w->n3;
  }
  if (w != nullptr && outcome.returned) {
    if (auto back = back_through_card(*w, outcome); !back) return tl::unexpected(back.error());
  }
  return outcome;
}

}  // namespace splitplane::app

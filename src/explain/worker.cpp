#include "explain/worker.h"

#include <algorithm>

#include "config/lookup.h"
#include "gnb/control/contexts.h"
#include "gnb/datapath/downlink.h"
#include "gnb/datapath/uplink.h"
#include "wire/bytes.h"

namespace splitplane::app {
namespace {

using datapath::Burst;
using datapath::FeatureSet;

constexpr unsigned kRingEntries = 16;

}  // namespace

Expected<Ring> make_explain_ring(const std::string& name) {
  Ring ring(rte_ring_create(name.c_str(), kRingEntries, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ));
  if (!ring) return fail("no memory for ring {}", name);
  return ring;
}

rte_mbuf* take_from(const Ring& ring) {
  void* packet = nullptr;
  return rte_ring_sc_dequeue(ring.get(), &packet) == 0 ? static_cast<rte_mbuf*>(packet) : nullptr;
}

Octets octets_of(rte_mbuf* m) {
  Octets all(m->pkt_len);
  const auto* at = static_cast<const std::uint8_t*>(rte_pktmbuf_read(m, 0, m->pkt_len, all.data()));
  if (at != nullptr && at != all.data()) std::copy_n(at, all.size(), all.begin());
  return all;
}

DropCounts drops_of(const datapath::WorkerStats& stats) {
  DropCounts now{};
  for (std::size_t i = 0; i < now.size(); ++i) now[i] = stats.drops[i].get();
  return now;
}

std::optional<datapath::DropReason> reason_since(const DropCounts& before, const datapath::WorkerStats& stats) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (stats.drops[i].get() != before[i]) return static_cast<datapath::DropReason>(i);
  }
  return std::nullopt;
}

PortFacts facts_of(const Config& config, const std::string& name) {
  const PortConfig& port = *find_port(config, name);
  const bool verified = port.checksum.value_or(datapath::ChecksumMode::off) != datapath::ChecksumMode::off;
  return {{}, port.mtu, verified ? datapath::ChecksumMode::software : datapath::ChecksumMode::off};
}

// In the place of a port: keeps the octets.
struct ExplainWorker::Sink {
  std::vector<Sent>* frames = nullptr;
  unsigned send(rte_mbuf** mbufs, unsigned n) {
    for (unsigned i = 0; i < n; ++i) {
      frames->push_back({mbufs[i], octets_of(mbufs[i])});
      rte_pktmbuf_free(mbufs[i]);
    }
    return n;
  }
};

template <FeatureSet F>
struct ExplainWorker::Pipelines {
  Pipelines(datapath::GnbContext& context, std::vector<Sent>& air, std::vector<Sent>& n3)
      : downlink(context, {&air}, {&n3}), uplink(context, {&n3}) {}
  datapath::GnbDownlink<F, Sink, datapath::TraceProbe> downlink;
  datapath::GnbUplink<F, Sink, datapath::TraceProbe> uplink;
};

ExplainWorker::ExplainWorker(const Config& all, const WorkerConfig& config)
    : all_(all), config_(config), n3_(*std::ranges::find(all.n3, config.n3, &N3Config::port)) {}

Expected<std::unique_ptr<ExplainWorker>> ExplainWorker::make(const Config& all, const WorkerConfig& config,
                                                             rte_mempool* pool) {
  std::unique_ptr<ExplainWorker> worker(new ExplainWorker(all, config));
  for (const auto& [ring, what] : {std::pair{&worker->copies_, "copies"},
                                   {&worker->punt_, "punt"},
                                   {&worker->downlink_, "dl"},
                                   {&worker->uplink_, "ul"}}) {
    auto made = make_explain_ring(config.name + "." + what);
    if (!made) return tl::unexpected(made.error());
    *ring = std::move(*made);
  }
  datapath::GnbContext& context = worker->context_;
  fill(context, all, config, facts_of(all, config.n3), facts_of(all, config.air));
  context.copies = worker->copies_.get();
  context.punt = worker->punt_.get();
  context.pool = pool;
  datapath::with_features(config.features, [&]<FeatureSet F>() { worker->use<F>(); });
  return worker;
}

template <FeatureSet F>
void ExplainWorker::use() {
  const auto pipes = std::make_shared<Pipelines<F>>(context_, air_, to_n3_);
  process_ = [pipes](Burst& burst, Direction direction) {
    direction == Direction::kDownlink ? pipes->downlink.process(burst) : pipes->uplink.process(burst);
  };
  trace_ = [pipes](Direction direction) -> const datapath::Trace& {
    return direction == Direction::kDownlink ? pipes->downlink.probe().trace() : pipes->uplink.probe().trace();
  };
}

void ExplainWorker::make_lines(std::uint32_t per_shard) {
  const std::size_t lines = std::size_t{config_.shard_last - config_.shard_first + 1} * per_shard;
  downlink_lines_.resize(lines);
  uplink_lines_.resize(lines);
  losses_.resize(lines);
  for (unsigned shard = config_.shard_first; shard <= config_.shard_last; ++shard) {
    const std::size_t first = std::size_t{shard - config_.shard_first} * per_shard;
    context_.bearers.attach(ShardId{static_cast<std::uint8_t>(shard)},
                            {&downlink_lines_[first], &uplink_lines_[first], &losses_[first], per_shard});
  }
}

Expected<void> ExplainWorker::make_keys(std::size_t teids, std::size_t bearers) {
  return make_key_tables(context_.keys, key_memory_, all_.lookup, teids, bearers, config_.name);
}

Expected<PeerId> ExplainWorker::peer_of(const IpAddress& upf,
                                        const std::function<std::optional<MacAddress>(const IpAddress&)>& mac_of) {
  const auto known = std::ranges::find(upfs_, upf);
  const auto place = static_cast<std::size_t>(known - upfs_.begin());
  if (known == upfs_.end()) {
    if (place == datapath::kMaxPeers) return fail("worker {} sends to {} UPFs already", config_.name, place);
    if (upf.is_v6() ? !n3_.ipv6 : !n3_.ipv4) {
      return fail("upf: {} cannot be reached: N3 port {} has no address of that family", upf.to_string(), n3_.port);
    }
    upfs_.push_back(upf);
    context_.peers[place] = datapath::make_peer(context_.n3, upf, mac_of(upf));
  }
  return PeerId{static_cast<std::uint16_t>(place)};
}

void ExplainWorker::work(rte_mbuf* m, Direction direction, Outcome& outcome) {
  outcome.worker = config_.name;
  const auto before = drops_of(context_.stats);
  const std::uint64_t returned = context_.stats.returned.get();
  const std::uint64_t control = context_.stats.rlc_control.get(), copied = context_.stats.copies.get();
  Burst burst;
  burst.mbuf[0] = m;
  burst.size = 1;
  process_(burst, direction);
  outcome.trace = trace_(direction);
  outcome.dropped = reason_since(before, context_.stats);
  outcome.rlc_control = context_.stats.rlc_control.get() != control;
  outcome.copies = context_.stats.copies.get() - copied;
  while (rte_mbuf* copy = take_from(copies_)) rte_pktmbuf_free(copy);
  if (rte_mbuf* punted = take_from(punt_); punted != nullptr) {
    outcome.punted = octets_of(punted);
    rte_pktmbuf_free(punted);
  }
  for (auto& sent : std::exchange(air_, {})) {
    if (sent.packet == m) outcome.own_in_air = outcome.to_air.size();
    outcome.to_air.push_back(std::move(sent.octets));
  }
  for (auto& sent : std::exchange(to_n3_, {})) outcome.to_n3.push_back(std::move(sent.octets));
  outcome.returned = context_.stats.returned.get() != returned;
  // A returned frame names its bearer where an air frame does.
  if (outcome.returned) outcome.trace.bearer = wire::load_be32(outcome.to_n3.back().data() + 18);
}

rte_mbuf* ExplainWorker::take(Direction direction) {
  return take_from(direction == Direction::kDownlink ? downlink_ : uplink_);
}

bool ExplainWorker::has_packets() const {
  return rte_ring_count(downlink_.get()) + rte_ring_count(uplink_.get()) != 0;
}

}  // namespace splitplane::app

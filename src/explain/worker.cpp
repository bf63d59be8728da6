#include "explain/worker.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "gnb/datapath/downlink.h"
#include "gnb/datapath/uplink.h"
#include "wire/bytes.h"

namespace splitplane::app {
namespace {

using datapath::Burst;
using datapath::FeatureSet;

}  // namespace

rte_mbuf* take_from(rte_ring* ring) {
  void* packet = nullptr;
  return rte_ring_sc_dequeue(ring, &packet) == 0 ? static_cast<rte_mbuf*>(packet) : nullptr;
}

std::optional<Octets> take_punted(const datapath::Punts& punts) {
  for (rte_ring* const ring : punts.rings) {
    if (rte_mbuf* const punted = take_from(ring); punted != nullptr) {
      Octets octets = octets_of(punted);
      rte_pktmbuf_free(punted);
      return octets;
    }
  }
  return std::nullopt;
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

ExplainWorker::ExplainWorker(gnb::WorkerRuntime& worker, const N3Config& n3) : worker_(worker), n3_(n3) {
  datapath::with_features(worker.config.features, [&]<FeatureSet F>() { use<F>(); });
}

template <FeatureSet F>
void ExplainWorker::use() {
  const auto pipes = std::make_shared<Pipelines<F>>(context(), air_, to_n3_);
  process_ = [pipes](Burst& burst, Direction direction) {
    direction == Direction::kDownlink ? pipes->downlink.process(burst) : pipes->uplink.process(burst);
  };
  trace_ = [pipes](Direction direction) -> const datapath::Trace& {
    return direction == Direction::kDownlink ? pipes->downlink.probe().trace() : pipes->uplink.probe().trace();
  };
}

void ExplainWorker::work(rte_mbuf* m, Direction direction, Outcome& outcome) {
  outcome.worker = config().name;
  const datapath::WorkerStats& stats = context().stats;
  const auto before = drops_of(stats);
  const std::uint64_t returned = stats.returned.get();
  const std::uint64_t control = stats.rlc_control.get(), copied = stats.copies.get();
  Burst burst;
  burst.mbuf[0] = m;
  burst.size = 1;
  process_(burst, direction);
  outcome.trace = trace_(direction);
  outcome.dropped = reason_since(before, stats);
  outcome.rlc_control = stats.rlc_control.get() != control;
  outcome.copies = stats.copies.get() - copied;
  while (rte_mbuf* copy = take_from(context().copies)) rte_pktmbuf_free(copy);
  if (auto punted = take_punted(context().punt)) outcome.punted = std::move(punted);
  for (auto& sent : std::exchange(air_, {})) {
    if (sent.packet == m) outcome.own_in_air = outcome.to_air.size();
    outcome.to_air.push_back(std::move(sent.octets));
  }
  for (auto& sent : std::exchange(to_n3_, {})) outcome.to_n3.push_back(std::move(sent.octets));
  outcome.returned = stats.returned.get() != returned;
  // A returned frame names its bearer where an air frame does.
  if (outcome.returned) outcome.trace.bearer = wire::load_be32(outcome.to_n3.back().data() + 18);
}

rte_mbuf* ExplainWorker::take(Direction direction) {
  std::vector<datapath::WorkerRings> all = context().handed;
  all.push_back(worker_.rings);
  for (const datapath::WorkerRings& rings : all) {
    if (rings.waiting() == 0) continue;
    if (rte_mbuf* const m = take_from(rings.of(direction)); m != nullptr) return m;
  }
  return nullptr;
}

bool ExplainWorker::has_packets() const {
  return worker_.rings.waiting() != 0 ||
         std::ranges::any_of(context().handed, [](const datapath::WorkerRings& from) { return from.waiting() != 0; });
}

}  // namespace splitplane::app

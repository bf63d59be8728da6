#include "datapath/gnb_worker.h"

#include "datapath/gnb.h"
#include "datapath/worker.h"

namespace splitplane::datapath {
namespace {

template <FeatureSet F>
WorkerLoop make_loop(const GnbWorkerSettings& settings, GnbContext& context, Mailbox& mailbox,
                     const std::atomic<bool>& stop) {
  return std::visit(
      [&](const auto& sources, const auto& policy) -> WorkerLoop {
        return [&context, &mailbox, &stop, settings, sources, policy] {
          Gnb<F, std::decay_t<decltype(sources.first)>, EthSink> gnb(context, sources.first, sources.second,
                                                                     settings.n3, settings.air, settings.drain_copies);
          run_worker(gnb, policy, mailbox, context.stats, stop);
        };
      },
      settings.sources, settings.policy);
}

}  // namespace

WorkerLoop make_gnb_loop(const GnbWorkerSettings& settings, GnbContext& context, Mailbox& mailbox,
                         const std::atomic<bool>& stop) {
  switch (settings.features) {
    case FeatureSet::drop:
      return make_loop<FeatureSet::drop>(settings, context, mailbox, stop);
    case FeatureSet::l2fwd:
      return make_loop<FeatureSet::l2fwd>(settings, context, mailbox, stop);
    case FeatureSet::decap:
      return make_loop<FeatureSet::decap>(settings, context, mailbox, stop);
    case FeatureSet::headers:
      return make_loop<FeatureSet::headers>(settings, context, mailbox, stop);
    case FeatureSet::mat:
      return make_loop<FeatureSet::mat>(settings, context, mailbox, stop);
    case FeatureSet::clone_drop:
      return make_loop<FeatureSet::clone_drop>(settings, context, mailbox, stop);
    case FeatureSet::clone:
      return make_loop<FeatureSet::clone>(settings, context, mailbox, stop);
  }
  return {};
}

WorkerLoop make_l2fwd_loop(EthSource from, EthSink to, AnyPolicy policy, WorkerStats& stats, Mailbox& mailbox,
                           const std::atomic<bool>& stop) {
  return [=, &stats, &mailbox, &stop] {
    std::visit(
        [&](auto p) {
          L2fwd<EthSource, EthSink> l2fwd(from, to, stats);
          run_worker(l2fwd, p, mailbox, stats, stop);
        },
        policy);
  };
}

WorkerLoop make_dispatch_loop(std::vector<Dispatch::Queue> queues, AnyPolicy policy, DispatchContext& context,
                              Mailbox& mailbox, const std::atomic<bool>& stop) {
  return [=, &context, &mailbox, &stop] {
    std::visit(
        [&](auto p) {
          Dispatch dispatch(context, queues);
          run_worker(dispatch, p, mailbox, context.stats, stop);
        },
        policy);
  };
}

WorkerLoop make_copies_loop(std::vector<rte_ring*> rings, AnyPolicy policy, WorkerStats& stats, Mailbox& mailbox,
                            const std::atomic<bool>& stop) {
  return [=, &stats, &mailbox, &stop] {
    std::visit(
        [&](auto p) {
          CopiesConsumer consumer(rings, stats);
          run_worker(consumer, p, mailbox, stats, stop);
        },
        policy);
  };
}

}  // namespace splitplane::datapath

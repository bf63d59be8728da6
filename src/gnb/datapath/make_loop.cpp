#include "gnb/datapath/make_loop.h"

#include "engine/worker.h"
#include "gnb/datapath/gnb.h"

namespace splitplane::datapath {
namespace {

template <FeatureSet F>
WorkerLoop make_loop(const GnbWorkerSettings& settings, WorkerPower& power, GnbContext& context, Mailbox& mailbox,
                     const std::atomic<bool>& stop) {
  return std::visit(
      [&](const auto& sources) -> WorkerLoop {
        return [&power, &context, &mailbox, &stop, settings, sources] {
          Gnb<F, std::decay_t<decltype(sources.first)>, EthSink> gnb(context, sources.first, sources.second,
                                                                     settings.n3, settings.air, settings.drain_copies);
          run_worker(gnb, power, mailbox, context.stats, stop);
        };
      },
      settings.sources);
}

}  // namespace

WorkerLoop make_gnb_loop(const GnbWorkerSettings& settings, WorkerPower& power, GnbContext& context, Mailbox& mailbox,
                         const std::atomic<bool>& stop) {
  return with_features(settings.features,
                       [&]<FeatureSet F>() { return make_loop<F>(settings, power, context, mailbox, stop); });
}

WorkerLoop make_l2fwd_loop(EthSource from, EthSink to, WorkerPower& power, WorkerStats& stats, Mailbox& mailbox,
                           const std::atomic<bool>& stop) {
  return [=, &power, &stats, &mailbox, &stop] {
    L2fwd<EthSource, EthSink> l2fwd(from, to, stats);
    run_worker(l2fwd, power, mailbox, stats, stop);
  };
}

WorkerLoop make_dispatch_loop(std::vector<Dispatch::Queue> queues, WorkerPower& power, DispatchContext& context,
                              Mailbox& mailbox, const std::atomic<bool>& stop) {
  return [queues = std::move(queues), &power, &context, &mailbox, &stop] {
    Dispatch dispatch(context, queues);
    run_worker(dispatch, power, mailbox, context.stats, stop);
  };
}

WorkerLoop make_copies_loop(std::vector<CopiesConsumer::Queue> queues, WorkerPower& power, WorkerStats& stats,
                            Mailbox& mailbox, const std::atomic<bool>& stop) {
  return [queues = std::move(queues), &power, &stats, &mailbox, &stop] {
    CopiesConsumer consumer(queues, stats);
    run_worker(consumer, power, mailbox, stats, stop);
  };
}

}  // namespace splitplane::datapath

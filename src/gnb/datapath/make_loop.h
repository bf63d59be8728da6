// From run-time settings to compile-time functions. It makes the loop of a worker with its feature set, endpoints and
// policy as template parameters. Only here are these settings a branch.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <variant>

#include "engine/copies.h"
#include "engine/mailbox.h"
#include "engine/worker_power.h"
#include "gnb/datapath/context.h"
#include "gnb/datapath/dispatch.h"
#include "gnb/datapath/feature_set.h"

namespace splitplane::datapath {

// A gNB worker reads from two port queues or, behind a dispatching worker, from two rings.
using GnbSources = std::variant<std::pair<EthSource, EthSource>, std::pair<RingSource, RingSource>>;  // {N3, air}

struct GnbWorkerSettings {
  FeatureSet features = FeatureSet::clone;
  GnbSources sources;
  EthSink n3, air;
  bool drain_copies = true;
};

// The loop of one worker; returns when `stop` is set. The references must outlive it.
using WorkerLoop = std::function<void()>;
[[nodiscard]] WorkerLoop make_gnb_loop(const GnbWorkerSettings& settings, WorkerPower& power, GnbContext& context,
                                       Mailbox& mailbox, const std::atomic<bool>& stop);
[[nodiscard]] WorkerLoop make_l2fwd_loop(EthSource from, EthSink to, WorkerPower& power, WorkerStats& stats,
                                         Mailbox& mailbox, const std::atomic<bool>& stop);
[[nodiscard]] WorkerLoop make_dispatch_loop(std::vector<Dispatch::Queue> queues, WorkerPower& power,
                                            DispatchContext& context, Mailbox& mailbox, const std::atomic<bool>& stop);
[[nodiscard]] WorkerLoop make_copies_loop(std::vector<CopiesConsumer::Queue> queues, WorkerPower& power,
                                          WorkerStats& stats, Mailbox& mailbox, const std::atomic<bool>& stop);

}  // namespace splitplane::datapath

#include "ue/ue_report.h"

#include <memory>

#include "engine/cpu_time.h"

namespace splitplane::ue {
namespace {

// The order of UeFunction::queues().
constexpr std::size_t kAirQueue = 0, kTunQueue = 1;

void add_air(UeReport& report, const UeWorker::Air& air) {
  if (air.downlink != nullptr) {
    report.air_downlink = {air.downlink->counters(), air.downlink->impairments()};
    report.received_air = report.air_downlink->received;
  }
  if (air.uplink != nullptr) {
    report.air_uplink = {air.uplink->counters(), air.uplink->impairments()};
    report.transmitted_air = report.air_uplink->passed - report.air_uplink->tx_full;
  }
}

UeReport take(const UeBearers& bearers, const UeStats& stats, const datapath::WorkerStats& worker, std::size_t limit) {
  UeReport report{.downlink = direction_report(stats.downlink, worker.received[kAirQueue].get()),
                  .uplink = direction_report(stats.uplink, worker.received[kTunQueue].get()),
                  .end_markers = stats.end_markers.get(),
                  .status_sent = stats.status_sent.get(),
                  .status_lost = stats.status_lost.get(),
                  .no_buffer = stats.no_buffer.get(),
                  .arq_status = stats.arq_status.get(),
                  .arq_retransmitted = stats.arq_retransmitted.get(),
                  .arq_sent = stats.arq_sent.get(),
                  .arq_lost = stats.arq_lost.get(),
                  .arq_status_stale = stats.arq_status_stale.get(),
                  .arq_status_malformed = stats.arq_status_malformed.get(),
                  .arq_max_retx = stats.arq_max_retx.get(),
                  .arq_unacked = stats.arq_unacked.get(),
                  .received_air = worker.received[kAirQueue].get(),
                  .transmitted_air = worker.transmitted_air.get(),
                  .busy_cycles = worker.busy_cycles.get(),
                  .idle_cycles = worker.idle_cycles.get(),
                  .asleep_cycles = worker.asleep_cycles.get(),
                  .cpu_cycles = datapath::thread_cpu_time(),
                  .rounds = worker.rounds.get(),
                  .sleeps = worker.sleeps.get(),
                  .bearer_count = bearers.size(),
                  .bearers = bearers.after(BearerId{0}, limit, UeBearers::Which::kUsed)};
  report.downlink.held = stats.pdcp_held.get();
  bearers.for_each([&](const UeBearer& b) {
    report.polls += b.downlink.polls;
    report.rlc_missing += b.rlc_rx.missing();
    report.rlc_late += b.downlink.rlc_late;
    report.rlc_duplicates += b.downlink.rlc_duplicates;
    report.pdcp_missing += b.pdcp_rx.missing();
    report.pdcp_late += b.downlink.pdcp_late;
    report.pdcp_duplicates += b.downlink.pdcp_duplicates;
    report.other_qfi += b.downlink.other_qfi;
    report.other_destination += b.downlink.other_destination;
  });
  return report;
}

}  // namespace

DirectionReport direction_report(const std::array<Counter, kUeOutcomeCount>& outcomes, std::uint64_t received) {
  DirectionReport report{.received = received};
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const auto outcome = static_cast<UeOutcome>(i);
    const std::uint64_t n = outcomes[i].get();
    if (outcome == UeOutcome::ok) {
      report.good = n;
    } else if (outcome == UeOutcome::rlc_control || outcome == UeOutcome::sunk) {
      report.consumed += n;
    } else if (n != 0) {
      report.dropped += n;
      report.drops.emplace_back(name_of(outcome), n);
    }
  }
  return report;
}

Expected<UeReport> take_report(UeWorker& worker, std::size_t bearer_limit) {
  auto report = std::make_shared<UeReport>();
  const bool done = worker.execute([report, &worker, bearer_limit](UeBearers& bearers) {
    *report = take(bearers, worker.stats(), worker.worker_stats(), bearer_limit);
    add_air(*report, worker.air());
  });
  if (!done) return fail("the worker does not answer");
  return std::move(*report);
}

}  // namespace splitplane::ue

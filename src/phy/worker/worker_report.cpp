#include "phy/worker/worker_report.h"

#include <memory>

#include "engine/cpu_time.h"

namespace splitplane::phy {
namespace {

template <class Counters>
Numbers numbers_of(const Counters& counters) {
  Numbers numbers;
  counters.for_each([&](std::string_view name, std::string_view, std::uint64_t n) { numbers.emplace_back(name, n); });
  return numbers;
}

template <std::size_t N>
Numbers numbers_of(const std::array<std::string_view, N>& names, const std::array<Counter, N>& counters) {
  Numbers numbers;
  for (std::size_t i = 0; i < N; ++i) numbers.emplace_back(names[i], counters[i].get());
  return numbers;
}

void add_radio(WorkerReport& report, const ue::TerminalStats& stats) {
  report.blocks = numbers_of(ue::kDownlinkBlockNames, stats.blocks);
  report.grants = numbers_of(ue::kGrantOutcomeNames, stats.grants);
  report.pdus = numbers_of(ue::kRlcPduOutcomeNames, stats.pdus);
  for (std::size_t i = 0; i < ran::mac::kMacDropCount; ++i) {
    const auto why = static_cast<ran::mac::MacDrop>(i);
    report.drops.emplace_back(name_of(why), stats.demux.of(why));
  }
#define SPLITPLANE_RADIO_NUMBER(name, text) report.radio.emplace_back(#name, stats.name.get());
  SPLITPLANE_TERMINAL_COUNTERS(SPLITPLANE_RADIO_NUMBER)
#undef SPLITPLANE_RADIO_NUMBER
}

void take(PhyWorker& worker, WorkerReport& report) {
  ue::FullUe& ues = worker.ues();
  const EmulatedPhy& phy = worker.phy();
  const PhyPeer& peer = phy.peer();
  report.downlink = ue::direction_report(ues.packets().downlink, ues.radio().sdus.get());
  report.downlink.held = ues.packets().pdcp_held.get();
  report.uplink = ue::direction_report(ues.packets().uplink, ues.packets_from_tun());
  report.balanced =
      report.downlink.balanced() && report.uplink.balanced() && ues.balanced() && phy.emulator().counters().balanced();
  report.bearers = ues.size();
  report.state = peer.state();
  report.l2_is_away = peer.l2_away();
  report.loss = phy.emulator().loss();
  report.air = numbers_of(phy.emulator().counters());
  report.air.emplace_back("slots_missed", phy.slots_missed());
  report.refused = numbers_of(phy.emulator().refused());
  report.peer = numbers_of(peer.counters());
  report.p5 = numbers_of(peer.p5().counters());
  report.p7 = numbers_of(peer.p7().counters());
  report.p5_datagrams = numbers_of(peer.p5().datagrams());
  report.p7_datagrams = numbers_of(peer.p7().datagrams());
  add_radio(report, ues.radio());
  report.busy_cycles = worker.stats().busy_cycles.get();
  report.asleep_cycles = worker.stats().asleep_cycles.get();
  report.cpu_cycles = datapath::thread_cpu_time();
  report.rounds = worker.stats().rounds.get();
  report.waits = worker.stats().waits.get();
}

}  // namespace

Expected<WorkerReport> take_report(PhyWorker& worker) {
  auto report = std::make_shared<WorkerReport>();
  if (!worker.execute([report, &worker] { take(worker, *report); })) return fail("the worker does not answer");
  return std::move(*report);
}

}  // namespace splitplane::phy

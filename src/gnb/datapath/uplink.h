// The uplink of a gNB worker: runs the stages of pipeline.h over each burst. Once per round it sends the frames of the
// control thread.
#pragma once

#include <limits>

#include "engine/endpoints.h"
#include "engine/probe.h"
#include "gnb/datapath/pipeline.h"

namespace splitplane::datapath {

template <FeatureSet F, class Sink, class Probe>
class GnbUplink {
 public:
  GnbUplink(GnbContext& context, Sink n3) : path_{context, context.stats, n3} {}

  void process(Burst& burst) {
    Drops drops(path_.stats);
    path_.probe.begin(path_.stats);
    run_uplink(path_, burst, drops);
  }

  // Full mode: RLC PDUs that MAC took out of transport blocks.
  void receive(std::span<const RlcPdu> pdus) {
    path_.probe.begin(path_.stats);
    for (; !pdus.empty(); pdus = pdus.subspan(std::min<std::size_t>(pdus.size(), kBurst))) {
      Drops drops(path_.stats);
      receive_rlc_pdus(path_, pdus.first(std::min<std::size_t>(pdus.size(), kBurst)), drops);
    }
  }

  // Once per round: sends SDUs of secured bearers that waited long enough for SDUs before them.
  void serve_reordering() {
    if constexpr (F >= FeatureSet::mat) {
      if (path_.gnb.pdcp == nullptr || path_.gnb.pdcp->idle()) [[likely]]
        return;
      path_.probe.resume();
      serve_secured(path_);
    }
  }
  // Once per round: sends SDUs of sessions with several bearers that waited long enough for an end marker, or that
  // serve_reordering() left.
  void serve_sessions() {
    const SessionUplinks& sessions = path_.gnb.session_uplinks;
    if (!sessions.waits() && sessions.ready.empty()) [[likely]]
      return;
    serve_sessions(rte_rdtsc());
  }
  // At the end of the worker's life: sends what still waits.
  void finish() { serve_sessions(kNever); }

  // Sends frames of the control thread on N3: ARP and neighbor discovery, answers and questions.
  void send_injected() {
    if (path_.gnb.inject == nullptr || rte_ring_empty(path_.gnb.inject) != 0) [[likely]]
      return;
    Burst burst;
    RingSource{path_.gnb.inject}.receive(burst);
    const unsigned sent = path_.n3.send(burst.mbuf.data(), burst.size);
    path_.stats.injected.add(sent);
    path_.stats.inject_lost.add(burst.size - sent);
    rte_pktmbuf_free_bulk(burst.mbuf.data() + sent, burst.size - sent);
  }

  [[nodiscard]] const Probe& probe() const { return path_.probe; }

 private:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  [[gnu::noinline]] void serve_sessions(std::uint64_t now) {
    path_.probe.resume();
    path_.gnb.session_uplinks.tick(now);
    deliver_session_sdus(path_);
  }

  UplinkPath<F, Sink, Probe> path_;
};

}  // namespace splitplane::datapath

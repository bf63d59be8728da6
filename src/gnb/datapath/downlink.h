// The downlink of a gNB worker: runs the stages of pipeline.h over each burst. Once per round it sends packets that
// waited for their order or for a card's lease, and serves the timers of acknowledged bearers.
#pragma once

#include <limits>

#include "engine/endpoints.h"
#include "engine/probe.h"
#include "gnb/datapath/pipeline.h"
#include "gnb/datapath/settle.h"

namespace splitplane::datapath {

template <FeatureSet F, class Sink, class Probe>
class GnbDownlink {
 public:
  // `back` leads to N3: frames that a card has to number go back to the card there.
  GnbDownlink(GnbContext& context, Sink air, Sink back) : path_{context, context.stats, air, back} {}

  void process(Burst& burst) {
    if constexpr (F >= FeatureSet::mat) {
      if (path_.gnb.card_moves.has_taken()) [[unlikely]]
        deliver_taken();
    }
    serve(burst);
    if constexpr (F >= FeatureSet::mat) {
      while (path_.gnb.card_moves.is_split()) [[unlikely]] {
        Burst behind = path_.gnb.card_moves.pass_fence(path_.gnb.bearers, path_.gnb.card_returns);
        if (behind.size != 0) serve(behind);
      }
    }
  }

  // Once per round: sends packets that waited long enough for their predecessors, and those of bearers that were
  // released.
  void flush() {
    if constexpr (F >= FeatureSet::mat) {
      if (path_.gnb.card_moves.has_taken()) [[unlikely]]
        deliver_taken();
      if (path_.gnb.card_returns.has_work()) [[unlikely]]
        path_.gnb.card_returns.flush(path_.back, rte_rdtsc());
      if (!path_.gnb.flow_moves.empty()) [[unlikely]]
        deliver_moved(rte_rdtsc());
      if (path_.gnb.reorder.held() == 0) [[likely]]
        return;
      path_.probe.resume();
      path_.gnb.reorder.expire(rte_rdtsc());
      deliver_ordered();
    }
  }
  // Once per round: serves the timers of acknowledged bearers and the STATUS PDUs of their peers.
  void serve_acknowledged() {
    if constexpr (F == FeatureSet::clone) {
      if (path_.gnb.arq == nullptr || path_.gnb.arq->idle()) [[likely]]
        return;
      path_.gnb.arq->serve(
          rte_rdtsc(), path_.air_passes_mbufs(),
          [this](rte_mbuf** mbufs, unsigned n) { return path_.air.send(mbufs, n); },
          [this](ArqBearer& b) {
            set_count_limit(*path_.gnb.bearers.bearer_line(b.id), path_.gnb.bearers.lease(b.id), &b);
          });
      note_served(path_.gnb);
    }
  }
  // Once per round: timers of RLC in full mode, and buffers that UEs acknowledged.
  void serve_cell() {
    if constexpr (F == FeatureSet::full) {
      if (path_.gnb.cell == nullptr || path_.gnb.cell->idle()) return;
      path_.gnb.cell->serve(rte_rdtsc());
    }
  }
  // The time of the next work that no packet announces. A time up to `now` means now.
  [[nodiscard]] std::uint64_t next_work(std::uint64_t now) const {
    std::uint64_t next =
        std::min({path_.gnb.reorder.next_work(), path_.gnb.flow_moves.next_work(), path_.gnb.card_returns.next_work()});
    if constexpr (F == FeatureSet::clone) {
      if (path_.gnb.arq != nullptr) next = std::min(next, path_.gnb.arq->next_work(now));
    }
    if constexpr (F == FeatureSet::full) {
      if (path_.gnb.cell != nullptr) next = std::min(next, path_.gnb.cell->next_work(now));
    }
    return path_.gnb.card_moves.has_taken() ? now : next;
  }
  // At the end of the worker's life: sends what is still held.
  void finish() {
    if constexpr (F >= FeatureSet::mat) deliver_moved(std::numeric_limits<std::uint64_t>::max());
    path_.gnb.reorder.release_all();
    path_.gnb.card_returns.drop_waiting(rte_rdtsc());
    path_.gnb.card_returns.flush(path_.back, rte_rdtsc(), std::numeric_limits<unsigned>::max());
    flush();
    path_.gnb.card_returns.drop_ready();
  }
  [[nodiscard]] const Probe& probe() const { return path_.probe; }

 private:
  void serve(Burst& burst) {
    Drops drops(path_.stats);
    path_.probe.begin(path_.stats);
    run_downlink(path_, burst, drops);
    if constexpr (F >= FeatureSet::mat) {
      if (!drops.empty()) [[unlikely]]
        settle(path_, drops);
    }
    if constexpr (F >= FeatureSet::mat) {
      if (path_.slow != 0) [[unlikely]]
        deliver_ordered();
    }
  }

  // Sends packets of bearers that came from a card: returned frames that the host numbers now. Their outer headers are
  // gone.
  [[gnu::noinline]] void deliver_taken() {
    GnbContext& gnb = path_.gnb;
    Burst burst;
    path_.probe.resume();
    while (gnb.card_moves.next_taken(burst) != 0) {
      Drops drops(path_.stats);
      path_.slow = 0;
      unsigned kept = 0;
      for (unsigned i = 0; i < burst.size; ++i) {
        rte_mbuf* const m = burst.mbuf[i];
        const std::uint32_t teid = teid_of_returned(octets(m));
        ran::BearerDownlink& line = *gnb.bearers.downlink_line(teid);
        if (!ran::BearerTable::is(line, teid)) {  // it was released meanwhile
          drops.add(m, DropReason::teid_released);
          continue;
        }
        const auto bytes = static_cast<std::uint16_t>(wire::load_be16(octets(m) + kReturnedHeaderBytes - 2));
        --line.received;  // it was counted when it came
        line.bytes -= bytes;
        path_.gpdu[kept] = {.teid = teid,
                            .source = line.upf,
                            .offset = kReturnedHeaderBytes,
                            .bytes = bytes,
                            .sdap = octets(m)[15],
                            .has_qfi = true};
        path_.bearer[kept] = &line;
        burst.mbuf[kept++] = m;
      }
      burst.size = kept;
      send_sdus(path_, burst, drops);
    }
  }
  // Ends the moves of QoS flows that are due. Their packets go through all stages again, on their new bearers.
  [[gnu::noinline]] void deliver_moved(std::uint64_t now) {
    Burst burst;
    path_.probe.resume();
    serve_moves(path_.gnb, now);
    path_.ordered = true;
    while (path_.gnb.flow_moves.take_ready(burst) != 0) {
      Drops drops(path_.stats);
      forward_downlink(path_, burst, drops);
    }
    path_.ordered = false;
    note_flow_held(path_.gnb);
  }

  // Sends packets that are in order now through all stages again: the reordering holds whole frames. Each packet enters
  // each stage once in the counters.
  [[gnu::noinline]] void deliver_ordered() {
    Burst burst;
    path_.ordered = true;
    while (path_.gnb.reorder.take_ready(burst) != 0) {
      Drops drops(path_.stats);  // one per burst, because it has room for one burst only
      forward_downlink(path_, burst, drops);
    }
    path_.ordered = false;
    path_.stats.reorder_held.set(path_.gnb.reorder.held());
    path_.stats.reorder_given_up.set(path_.gnb.reorder.given_up());
  }

  DownlinkPath<F, Sink, Probe> path_;
};

}  // namespace splitplane::datapath

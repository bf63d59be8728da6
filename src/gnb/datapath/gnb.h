// The gNB as a worker's function: downlink and uplink of header mode over two inputs and two outputs, or of full mode.
// pipeline.h shows the packet path from top to bottom.
#pragma once

#include <array>
#include <utility>

#include "engine/copies.h"
#include "gnb/datapath/downlink.h"
#include "gnb/datapath/uplink.h"
#include "radio/serve_phy.h"

namespace splitplane::datapath {

template <FeatureSet F, class Source, class Sink, class Probe = SampledCycles>
class Gnb {
 public:
  struct Queue : Lookahead<Source> {
    Direction direction;
  };
  // Full mode has no air port: its uplink comes from the PHY.
  using Queues = std::array<Queue, F == FeatureSet::full ? 1 : 2>;

  // `drain_copies`: this worker consumes its own copies, once per round.
  Gnb(GnbContext& context, Source n3_in, Source air_in, Sink n3_out, Sink air_out, bool drain_copies)
      : context_(context),
        queues_(queues_of(n3_in, air_in)),
        downlink_(context, air_out, n3_out),
        uplink_(context, n3_out),
        drain_copies_(drain_copies) {}

  Queues& queues() { return queues_; }

  void process(Queue& queue, Burst& burst) {
    if (queue.direction == Direction::kDownlink) {
      downlink_.process(burst);
    } else {
      uplink_.process(burst);
    }
  }

  // Once per round: sends frames of the control thread, serves packets that another worker handed off, and consumes
  // copies if this worker is their consumer. Returns the number of handed-off packets and of reports of the PHY, which
  // came by none of the queues.
  unsigned flush() {
    uplink_.send_injected();
    const unsigned handed_off = serve_handed_off() + serve_phy();
    downlink_.flush();
    downlink_.serve_acknowledged();
    downlink_.serve_cell();
    uplink_.serve_reordering();
    uplink_.serve_sessions();
    if (drain_copies_ && context_.copies != nullptr) {
      while (consume_copies(context_.copies, context_.stats, FreeMbufs{}) == kBurst) {
      }
    } else if (context_.copies_consumer != nullptr) {
      const std::uint64_t handed = context_.stats.copies.get() + context_.stats.rlc_control.get();
      if (std::exchange(handed_, handed) != handed) context_.copies_consumer->wake();
    }
    return handed_off;
  }
  void finish() {
    while (serve_handed_off() != 0) {
    }
    downlink_.finish();
    uplink_.finish();
    flush();
  }
  // The time of the next work that no packet announces. A time up to `now` means now.
  [[nodiscard]] std::uint64_t next_work(std::uint64_t now) const {
    if (context_.inject != nullptr && rte_ring_empty(context_.inject) == 0) return now;
    for (const WorkerRings& from : context_.handed) {
      if (from.waiting() != 0) return now;
    }
    if (context_.phy != nullptr && !context_.phy->reports.empty()) return now;
    const std::uint64_t next = std::min(downlink_.next_work(now), context_.session_uplinks.next_work());
    return context_.pdcp == nullptr ? next : std::min(next, context_.pdcp->next_work());
  }

 private:
  static Queues queues_of(Source n3_in, Source air_in) {
    Queues queues;
    queues[0] = {Lookahead<Source>(n3_in), Direction::kDownlink};
    if constexpr (F != FeatureSet::full) queues[1] = {Lookahead<Source>(air_in), Direction::kUplink};
    return queues;
  }
  unsigned serve_phy() {
    if constexpr (F == FeatureSet::full) {
      if (context_.phy != nullptr && !context_.phy->reports.empty()) return serve_reports();
    }
    return 0;
  }
  // RLC PDUs of all blocks go on together, in bursts.
  unsigned serve_reports() {
    std::array<RlcPdu, kBurst> pdus;
    unsigned count = 0;
    const auto receive = [&] {
      if (count != 0) uplink_.receive(std::span<const RlcPdu>(pdus.data(), std::exchange(count, 0)));
    };
    return datapath::serve_phy(
        *context_.phy, *context_.slots, *context_.cell, context_.stats,
        [&](LogicalChannel& channel, rte_mbuf* pdu) {
          pdus[count++] = {&channel, pdu};
          if (count == kBurst) receive();
        },
        receive);
  }
  // Serves one burst of each direction from each other worker and returns the number of packets. They count as received
  // in the counters after those of queues().
  unsigned serve_handed_off() {
    unsigned all = 0;
    for (const WorkerRings& from : context_.handed) {
      if (from.waiting() != 0) [[unlikely]]
        all += serve_handed_off(from);
    }
    return all;
  }
  unsigned serve_handed_off(const WorkerRings& from) {
    Burst burst;
    const unsigned downlink = RingSource{from.downlink}.receive(burst);
    context_.stats.received[kHandedQueue].add(downlink);
    if (downlink != 0) downlink_.process(burst);
    const unsigned uplink = RingSource{from.uplink}.receive(burst);
    context_.stats.received[kHandedQueue + 1].add(uplink);
    if (uplink != 0) uplink_.process(burst);
    return downlink + uplink;
  }

  GnbContext& context_;
  Queues queues_;
  GnbDownlink<F, Sink, Probe> downlink_;
  GnbUplink<F, Sink, Probe> uplink_;
  bool drain_copies_;
  std::uint64_t handed_ = 0;  // copies handed off when their consumer was last woken
};

}  // namespace splitplane::datapath

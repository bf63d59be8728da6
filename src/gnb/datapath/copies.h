// The consumer of copies. It takes references to sent PDUs and uplink RLC control PDUs from a worker's ring, or a
// card's clones of them from a port. While no buffering service keeps them, it counts and releases them. It runs in the
// worker itself or in a separate worker.
#pragma once

#include <rte_ring.h>

#include <array>
#include <utility>
#include <variant>
#include <vector>

#include "engine/burst.h"
#include "engine/endpoints.h"
#include "engine/idle.h"
#include "engine/probe.h"

namespace splitplane::datapath {

// Gives a reference back to DPDK.
struct FreeMbufs {
  void operator()(rte_mbuf** mbufs, unsigned n) const { rte_pktmbuf_free_bulk(mbufs, n); }
};

// Takes one burst from `ring` and releases it; returns how many.
template <class Release>
unsigned consume_copies(rte_ring* ring, WorkerStats& stats, Release release) {
  std::array<rte_mbuf*, kBurst> mbufs;
  const unsigned n = rte_ring_sc_dequeue_burst(ring, reinterpret_cast<void**>(mbufs.data()), kBurst, nullptr);
  if (n == 0) return 0;
  release(mbufs.data(), n);
  stats.stages[static_cast<std::size_t>(Stage::copies)].packets.add(n);
  return n;
}

// The consumer as a worker's function, over the rings of several workers and the queues of ports.
class CopiesConsumer {
 public:
  struct Queue {
    std::variant<RingSource, EthSource> source;
    unsigned receive(Burst& burst) {
      return std::visit([&](auto& s) { return s.receive(burst); }, source);
    }
    // Takes what is left at the end. Only rings are drained: a ring ends with its producer, but packets go on to arrive
    // at a port.
    unsigned take_left(Burst& burst) {
      burst.size = 0;
      auto* const ring = std::get_if<RingSource>(&source);
      return ring == nullptr ? 0 : ring->receive(burst);
    }
    [[nodiscard]] int waiting() const {
      return std::visit([](const auto& s) { return s.waiting(); }, source);
    }
    [[nodiscard]] unsigned entries() const {
      return std::visit([](const auto& s) { return s.entries(); }, source);
    }
    [[nodiscard]] WakeSource wake_source() const {
      return std::visit([](const auto& s) { return s.wake_source(); }, source);
    }
  };

  CopiesConsumer(std::vector<Queue> queues, WorkerStats& stats) : queues_(std::move(queues)), stats_(stats) {}

  std::vector<Queue>& queues() { return queues_; }
  void process(Queue&, Burst& burst) {
    probe_.begin(stats_);
    rte_pktmbuf_free_bulk(burst.mbuf.data(), burst.size);
    probe_.stage(Stage::copies, burst.size);
  }
  void flush() {}

 private:
  std::vector<Queue> queues_;
  WorkerStats& stats_;
  SampledCycles probe_;
};

}  // namespace splitplane::datapath

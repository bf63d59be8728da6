// The consumer of copies: takes references to sent PDUs and uplink RLC control PDUs from a worker's ring and, as long
// as no buffering service keeps them, counts and releases them. Runs in the worker itself or as a worker of its own.
#pragma once

#include <rte_ring.h>

#include <array>
#include <vector>

#include "datapath/burst.h"
#include "datapath/probe.h"
#include "datapath/rester.h"

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

// The same as a worker's function, over the rings of several workers.
class CopiesConsumer {
 public:
  struct Queue {
    rte_ring* ring;
    unsigned receive(Burst& burst) {
      burst.size = rte_ring_sc_dequeue_burst(ring, reinterpret_cast<void**>(burst.mbuf.data()), kBurst, nullptr);
      return burst.size;
    }
    unsigned take_left(Burst& burst) { return receive(burst); }
    [[nodiscard]] int waiting() const { return static_cast<int>(rte_ring_count(ring)); }
    [[nodiscard]] unsigned entries() const { return rte_ring_get_capacity(ring); }
    [[nodiscard]] WakeSource wake_source() const { return {WakeSource::Kind::ring}; }
  };

  CopiesConsumer(const std::vector<rte_ring*>& rings, WorkerStats& stats) : stats_(stats) {
    for (rte_ring* ring : rings) queues_.push_back({ring});
  }

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

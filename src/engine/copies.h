// The consumer of copies. It takes references to sent PDUs and uplink RLC control PDUs from a worker's ring, or a
// card's clones of them from a port. While no buffering service keeps them, it counts and releases them. It runs in the
// worker itself or in a separate worker.
#pragma once

#include <rte_ring.h>

#include <utility>
#include <vector>

#include "engine/burst.h"
#include "engine/endpoints.h"
#include "engine/probe.h"

namespace splitplane::datapath {

// Gives a reference back to DPDK.
struct FreeMbufs {
  void operator()(rte_mbuf** mbufs, unsigned n) const { rte_pktmbuf_free_bulk(mbufs, n); }
};

// Takes one burst from `ring` and releases it; returns how many.
template <class Release>
unsigned consume_copies(rte_ring* ring, WorkerStats& stats, Release release) {
  Burst copies;
  const unsigned n = RingSource{ring}.receive(copies);
  if (n == 0) return 0;
  release(copies.mbuf.data(), n);
  stats.stages[static_cast<std::size_t>(Stage::copies)].packets.add(n);
  return n;
}

// The consumer as a worker's function, over the rings of several workers and the queues of ports.
class CopiesConsumer {
 public:
  using Queue = AnySource<RingSource, EthSource>;

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

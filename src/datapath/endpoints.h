// Where a function's packets come from and go to. A function takes its sources and sinks as template parameters, so the
// same pipeline runs on ports, on rings from a dispatching worker, and on the bench's buffers.
#pragma once

#include <rte_ethdev.h>
#include <rte_prefetch.h>
#include <rte_ring.h>

#include "datapath/burst.h"

namespace splitplane::datapath {

// The packet's first octets lie here unless the driver changed data_off: computed, not loaded, so that the prefetch of
// the octets need not wait for the mbuf's own line.
inline void prefetch_packet(rte_mbuf* m) {
  rte_prefetch0(m);
  rte_prefetch0(reinterpret_cast<const std::uint8_t*>(m) + sizeof(rte_mbuf) + RTE_PKTMBUF_HEADROOM);
}

// One receive queue of a port.
struct EthSource {
  std::uint16_t port = 0, queue = 0;

  unsigned receive(Burst& burst) {
    burst.size = rte_eth_rx_burst(port, queue, burst.mbuf.data(), kBurst);
    for (unsigned i = 0; i < burst.size; ++i) prefetch_packet(burst.mbuf[i]);
    return burst.size;
  }
};

// A single-consumer ring fed by a dispatching worker.
struct RingSource {
  rte_ring* ring = nullptr;

  unsigned receive(Burst& burst) {
    burst.size = rte_ring_sc_dequeue_burst(ring, reinterpret_cast<void**>(burst.mbuf.data()), kBurst, nullptr);
    for (unsigned i = 0; i < burst.size; ++i) prefetch_packet(burst.mbuf[i]);
    return burst.size;
  }
};

// One transmit queue of a port. A queue that stays full for kRetries attempts loses the rest of the burst: the caller
// counts and frees it.
struct EthSink {
  static constexpr unsigned kRetries = 64;
  std::uint16_t port = 0, queue = 0;
  // The driver passes the mbuf itself on to its receiver (net_ring), so a packet that is shared must go out as a copy.
  bool passes_mbufs = false;

  unsigned send(rte_mbuf** mbufs, unsigned n) {
    unsigned sent = rte_eth_tx_burst(port, queue, mbufs, static_cast<std::uint16_t>(n));
    for (unsigned tries = 0; sent < n && tries < kRetries; ++tries) {
      sent += rte_eth_tx_burst(port, queue, mbufs + sent, static_cast<std::uint16_t>(n - sent));
    }
    return sent;
  }
};

}  // namespace splitplane::datapath

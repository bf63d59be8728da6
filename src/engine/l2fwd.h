// The baseline function: it swaps the MAC addresses and sends (feature set `l2fwd`, papers P4 and PWR step 0).
#pragma once

#include <immintrin.h>

#include <array>

#include "engine/burst.h"
#include "engine/endpoints.h"
#include "engine/probe.h"

namespace splitplane::datapath {

// Swaps destination and source MAC address and keeps the EtherType, with one 16-octet load and store per packet.
inline void swap_mac(std::uint8_t* frame) {
  const __m128i order = _mm_set_epi8(15, 14, 13, 12, 5, 4, 3, 2, 1, 0, 11, 10, 9, 8, 7, 6);
  auto* at = reinterpret_cast<__m128i*>(frame);
  _mm_storeu_si128(at, _mm_shuffle_epi8(_mm_loadu_si128(at), order));
}

inline void swap_macs(Burst& burst) {
  for (unsigned i = 0; i < burst.size; ++i) {
    burst.prefetch_mbuf_ahead(i);
    burst.prefetch_octets_ahead(i);
    swap_mac(octets(burst.mbuf[i]));
  }
}

template <class Source, class Sink, class Probe = SampledCycles>
class L2fwd {
 public:
  using Queue = Lookahead<Source>;

  L2fwd(Source source, Sink sink, WorkerStats& stats) : queues_{Queue(source)}, sink_(sink), stats_(stats) {}

  std::array<Queue, 1>& queues() { return queues_; }

  void process(Queue&, Burst& burst) {
    probe_.begin(stats_);
    swap_macs(burst);
    probe_.stage(Stage::l2fwd, burst.size);
    const unsigned sent = sink_.send(burst.mbuf.data(), burst.size);
    stats_.transmitted_air.add(sent);
    if (sent < burst.size) [[unlikely]] {
      stats_.drop(DropReason::tx_full, burst.size - sent);
      rte_pktmbuf_free_bulk(burst.mbuf.data() + sent, burst.size - sent);
    }
    probe_.stage(Stage::dl_tx, burst.size);
  }

  void flush() {}

 private:
  std::array<Queue, 1> queues_;
  Sink sink_;
  WorkerStats& stats_;
  Probe probe_;
};

}  // namespace splitplane::datapath

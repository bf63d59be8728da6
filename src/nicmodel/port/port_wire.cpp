#include "nicmodel/port/port_wire.h"

#include <rte_ethdev.h>

#include <algorithm>

namespace splitplane::nicmodel {

PortWire::~PortWire() {
  free_arrived();
}

void PortWire::free_arrived() {
  rte_pktmbuf_free_bulk(arrived_.data(), arrived_count_);
  arrived_count_ = 0;
}

std::uint32_t PortWire::arrive(WireFrame* frames, std::uint32_t max, std::uint64_t /*now_ns*/) {
  free_arrived();  // the model has copied the frames of the last call
  arrived_count_ = rte_eth_rx_burst(port_, queue_, arrived_.data(),
                                    static_cast<std::uint16_t>(std::min<std::uint32_t>(max, kBatch)));
  std::uint16_t kept = 0;
  for (std::uint16_t i = 0; i < arrived_count_; ++i) {
    rte_mbuf* const m = arrived_[i];
    if (m->nb_segs > 1) {
      // A model's frame is one piece; a driver that delivers more has a pool of small mbufs.
      if (rte_pktmbuf_linearize(m) != 0) {
        no_mbuf_.add(1);
        rte_pktmbuf_free(m);
        continue;
      }
      segmented_.add(1);
    }
    arrived_[kept] = m;
    frames[kept] = {rte_pktmbuf_mtod(m, const std::uint8_t*), m->data_len};
    if (m->data_len < kLeastBytes) {
      // Frames that software sends into a port lack the padding that a wire would have added.
      auto& padded = padded_[kept];
      std::fill(std::copy_n(frames[kept].octets, m->data_len, padded.begin()), padded.end(), std::uint8_t{0});
      frames[kept] = {padded.data(), kLeastBytes};
    }
    ++kept;
  }
  arrived_count_ = kept;
  return kept;
}

std::uint32_t PortWire::leave(const WireFrame* frames, std::uint32_t n, std::uint64_t /*now_ns*/) {
  std::array<rte_mbuf*, kBatch> out{};
  n = std::min<std::uint32_t>(n, kBatch);
  std::uint16_t made = 0;
  for (; made < n; ++made) {
    rte_mbuf* const m = rte_pktmbuf_alloc(pool_);
    if (m == nullptr) break;
    auto* const to = rte_pktmbuf_append(m, static_cast<std::uint16_t>(frames[made].bytes));
    if (to == nullptr) {
      rte_pktmbuf_free(m);
      break;
    }
    rte_memcpy(to, frames[made].octets, frames[made].bytes);
    out[made] = m;
  }
  if (made < n) no_mbuf_.add(n - made);
  const std::uint16_t sent = rte_eth_tx_burst(port_, queue_, out.data(), made);
  rte_pktmbuf_free_bulk(&out[sent], static_cast<unsigned>(made - sent));  // they are offered again
  return sent;
}

}  // namespace splitplane::nicmodel

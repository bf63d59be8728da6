// A burst: up to 32 packets that pass through the stages together. A stage that drops packets closes the gaps, so the
// remaining packets are always at the front, in order.
#pragma once

#include <rte_mbuf.h>
#include <rte_prefetch.h>
#include <rte_ring.h>

#include <array>
#include <cstdint>

#include "engine/stats.h"

namespace splitplane::datapath {

inline constexpr unsigned kBurst = 32;

// Prefetches the packet's first octets, or those at `offset`. They are here unless the driver changed data_off. The
// address is computed and not loaded, so the prefetch does not wait for the mbuf's own cache line.
inline void prefetch_octets(rte_mbuf* m, unsigned offset = 0) {
  rte_prefetch0(reinterpret_cast<const std::uint8_t*>(m) + sizeof(rte_mbuf) + RTE_PKTMBUF_HEADROOM + offset);
}

struct Burst {
  std::array<rte_mbuf*, kBurst> mbuf;
  unsigned size = 0;
  rte_mbuf* const* ahead = nullptr;  // the next burst, received already: stages prefetch it as they work
  unsigned ahead_size = 0;

  // Prefetches packet i of the next burst. An early stage calls it for the mbuf; a later stage calls the one below for
  // the first octets.
  void prefetch_mbuf_ahead(unsigned i) const {
    if (i < ahead_size) rte_prefetch0(ahead[i]);
  }
  void prefetch_octets_ahead(unsigned i, unsigned offset = 0) const {
    if (i < ahead_size) prefetch_octets(ahead[i], offset);
  }
};

[[nodiscard]] inline std::uint8_t* octets(rte_mbuf* m) {
  return rte_pktmbuf_mtod(m, std::uint8_t*);
}

// Replaces the first `strip` octets of a one-segment packet by `push` new ones and cuts it to `payload` octets behind
// them. Returns the first new octet, or nullptr without headroom. The caller has checked that strip + payload lie
// inside the packet.
[[nodiscard]] inline std::uint8_t* reframe(rte_mbuf* m, unsigned strip, unsigned push, unsigned payload) {
  const unsigned start = m->data_off + strip;
  if (start < push) [[unlikely]]
    return nullptr;
  m->data_off = static_cast<std::uint16_t>(start - push);
  m->data_len = static_cast<std::uint16_t>(push + payload);
  m->pkt_len = push + payload;
  return octets(m);
}

// Collects the packets of a burst that are dropped, counts each by reason, and frees them together at the end of the
// burst.
class Drops {
 public:
  explicit Drops(WorkerStats& stats) : stats_(stats) {}
  Drops(const Drops&) = delete;
  Drops& operator=(const Drops&) = delete;
  ~Drops() {
    if (size_ != 0) [[unlikely]]
      rte_pktmbuf_free_bulk(mbuf_.data(), size_);
  }
  void add(rte_mbuf* m, DropReason reason) {
    stats_.drop(reason);
    mbuf_[size_++] = m;
  }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  // Does not free the packets for which `use` returns true: they are the caller's now.
  template <class Use>
  void take_back(Use&& use) {
    unsigned kept = 0;
    for (unsigned i = 0; i < size_; ++i) {
      if (!use(mbuf_[i])) mbuf_[kept++] = mbuf_[i];
    }
    size_ = kept;
  }

 private:
  WorkerStats& stats_;
  std::array<rte_mbuf*, kBurst> mbuf_;
  unsigned size_ = 0;
};

}  // namespace splitplane::datapath

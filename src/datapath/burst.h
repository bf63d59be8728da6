// A burst: up to 32 packets on their way through the stages together. Stages close gaps as they drop, so the packets
// left always lie at the front, in order.
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <cstdint>

#include "datapath/stats.h"

namespace splitplane::datapath {

inline constexpr unsigned kBurst = 32;

struct Burst {
  std::array<rte_mbuf*, kBurst> mbuf;
  unsigned size = 0;
};

[[nodiscard]] inline std::uint8_t* octets(rte_mbuf* m) { return rte_pktmbuf_mtod(m, std::uint8_t*); }

// Replaces the first `strip` octets of a one-segment packet by `push` new ones and cuts it to `payload` octets behind
// them; returns the first new octet, or nullptr without headroom. The caller has checked that strip + payload lie inside.
[[nodiscard]] inline std::uint8_t* reframe(rte_mbuf* m, unsigned strip, unsigned push, unsigned payload) {
  const unsigned start = m->data_off + strip;
  if (start < push) [[unlikely]] return nullptr;
  m->data_off = static_cast<std::uint16_t>(start - push);
  m->data_len = static_cast<std::uint16_t>(push + payload);
  m->pkt_len = push + payload;
  return octets(m);
}

// Collects the packets that a burst loses, counts each by reason, and frees them together at the end of the burst.
class Losses {
 public:
  explicit Losses(WorkerStats& stats) : stats_(stats) {}
  Losses(const Losses&) = delete;
  Losses& operator=(const Losses&) = delete;
  ~Losses() {
    if (size_ != 0) [[unlikely]] rte_pktmbuf_free_bulk(mbuf_.data(), size_);
  }
  void add(rte_mbuf* m, DropReason reason) {
    stats_.drop(reason);
    mbuf_[size_++] = m;
  }

 private:
  WorkerStats& stats_;
  std::array<rte_mbuf*, kBurst> mbuf_;
  unsigned size_ = 0;
};

}  // namespace splitplane::datapath

// The bench's packets: 65,536 prefilled mbufs, handed out in a seeded random order through an object that looks like a
// port, and restored after transmit. They are cold, because a pass touches far more than a level-2 cache.
#pragma once

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "engine/burst.h"
#include "engine/endpoints.h"
#include "n3/interface.h"

namespace splitplane::bench {

inline constexpr unsigned kFrameBytes = 128;

// A frame of `bytes` octets as it came from N3: Ethernet, IPv4, UDP, GTP-U with a DL PDU Session Container, together 58
// octets; the TEID differs.
struct FrameTemplate {
  std::array<std::uint8_t, 64> head{};
};
[[nodiscard]] FrameTemplate make_frame_template(const datapath::N3Addresses& ours, unsigned bytes = kFrameBytes);

// Restores a buffer to the state in which it came from N3. Its TEID is in hash.usr (first cache line).
inline void restore(rte_mbuf* m, const FrameTemplate& frame) {
  m->data_off = RTE_PKTMBUF_HEADROOM;
  m->data_len = kFrameBytes;
  m->pkt_len = kFrameBytes;
  auto* octets = rte_pktmbuf_mtod(m, std::uint8_t*);
  std::memcpy(octets, frame.head.data(), 58);
  const std::uint32_t teid = __builtin_bswap32(m->hash.usr);
  std::memcpy(octets + 46, &teid, 4);
}

// Gives up one reference. The last one restores the buffer; freeing it would return it to its pool.
inline void release(rte_mbuf* m, const FrameTemplate& frame) {
  if (rte_mbuf_refcnt_read(m) == 1 || rte_mbuf_refcnt_update(m, -1) == 0) {
    rte_mbuf_refcnt_set(m, 1);
    restore(m, frame);
  }
}

class Buffers {
 public:
  // `count` buffers from `pool`; each carries a TEID drawn from `teids`, which are also in random order.
  Buffers(rte_mempool* pool, unsigned count, const std::vector<std::uint32_t>& teids, const FrameTemplate& frame,
          unsigned seed);
  ~Buffers();
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  // Gives the buffers other TEIDs and restores them all.
  void assign(const std::vector<std::uint32_t>& teids, unsigned seed);
  [[nodiscard]] rte_mbuf** order() { return order_.data(); }
  [[nodiscard]] unsigned count() const { return static_cast<unsigned>(order_.size()); }
  [[nodiscard]] const FrameTemplate& frame() const { return frame_; }
  // Number of buffers that are not as they came from N3, or are still shared. It is 0 after a complete pass.
  [[nodiscard]] unsigned damaged() const;

 private:
  std::vector<rte_mbuf*> order_;
  FrameTemplate frame_;
};

// Hands out the buffers of one pass, once, in order. `null_port` also polls a net_null port for the cost of a receive.
struct BufferSource {
  Buffers* buffers = nullptr;
  unsigned next = 0;

  unsigned receive(datapath::Burst& burst) {
    const unsigned left = buffers == nullptr ? 0 : buffers->count() - next;
    burst.size = left < datapath::kBurst ? left : datapath::kBurst;
    if (burst.size == 0) return 0;
    std::memcpy(burst.mbuf.data(), buffers->order() + next, burst.size * sizeof(rte_mbuf*));
    next += burst.size;
    return burst.size;
  }
};

// Takes all packets at once and releases them.
struct RestoringSink {
  const FrameTemplate* frame = nullptr;

  unsigned send(rte_mbuf** mbufs, unsigned n) {
    for (unsigned i = 0; i < n; ++i) release(mbufs[i], *frame);
    return n;
  }
};

// As RestoringSink, and also moves as many packets through a net_null port. That adds a real receive (mempool get,
// driver) in front and a real transmit (driver, mempool put) behind, for packets that stay as hot as a driver's.
struct NullPortSink {
  const FrameTemplate* frame = nullptr;
  std::uint16_t port = 0;

  unsigned send(rte_mbuf** mbufs, unsigned n) {
    for (unsigned i = 0; i < n; ++i) release(mbufs[i], *frame);
    std::array<rte_mbuf*, datapath::kBurst> through;
    const unsigned got = rte_eth_rx_burst(port, 0, through.data(), static_cast<std::uint16_t>(n));
    const unsigned sent = rte_eth_tx_burst(port, 0, through.data(), static_cast<std::uint16_t>(got));
    if (sent < got) rte_pktmbuf_free_bulk(through.data() + sent, got - sent);
    return n;
  }
};

}  // namespace splitplane::bench

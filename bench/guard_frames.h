// Frames of guard_bench: segments between clients by number and one protected server, in 65,536 mbufs that a pass
// touches once, in random order. Between two passes all of them are written anew, so a pass finds them cold.
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <cstdint>
#include <vector>

#include "engine/burst.h"
#include "guard/cookie/four_tuple.h"
#include "guard/segment/segment.h"
#include "wire/bytes.h"

namespace splitplane::bench {

inline constexpr unsigned kGuardBuffers = 65536;

// A segment of client `number`. Clients differ in their address (the /64 with IPv6) and port.
struct GuardFrame {
  bool is_v6 = false;
  guard::Side from = guard::Side::kClient;
  std::uint32_t number = 0;
  std::uint8_t flags = 0;
  std::uint32_t sequence = 0, acknowledgment = 0;
  std::uint16_t window = 64240;
  wire::Octets options;  // a multiple of 4 octets
};
[[nodiscard]] guard::FourTuple tuple_of(bool is_v6, std::uint32_t client);
// As a NIC that verifies checksums would hand it over; the checksums are right.
void write_frame(rte_mbuf* m, const GuardFrame& frame);

class GuardBuffers {
 public:
  // `count` of them, at most kGuardBuffers: some hundred stay in a level-2 cache.
  GuardBuffers(rte_mempool* pool, unsigned count);
  ~GuardBuffers();
  GuardBuffers(const GuardBuffers&) = delete;
  GuardBuffers& operator=(const GuardBuffers&) = delete;

  // Writes `frame_of(i)` for each place of the order. Each buffer is held twice, so that a function which frees it
  // does not return it to its pool.
  template <class FrameOf>
  void write(FrameOf&& frame_of) {
    for (unsigned i = 0; i < count(); ++i) {
      rte_mbuf_refcnt_set(order_[i], 2);
      write_frame(order_[i], frame_of(i));
    }
  }
  [[nodiscard]] rte_mbuf** order() { return order_.data(); }
  [[nodiscard]] unsigned count() const { return static_cast<unsigned>(order_.size()); }

 private:
  std::vector<rte_mbuf*> order_;
};

// Hands out all buffers once, in order. A source without buffers is an idle queue.
struct GuardSource {
  GuardBuffers* buffers = nullptr;
  unsigned* next = nullptr;

  unsigned receive(datapath::Burst& burst) {
    const unsigned left = buffers == nullptr ? 0 : buffers->count() - *next;
    burst.size = left < datapath::kBurst ? left : datapath::kBurst;
    if (burst.size == 0) return 0;
    std::memcpy(burst.mbuf.data(), buffers->order() + *next, burst.size * sizeof(rte_mbuf*));
    *next += burst.size;
    return burst.size;
  }
};

// Takes all packets. It leaves them as they are, or frees them: packets that the guard made return to the pool.
struct GuardSink {
  const bool* frees = nullptr;

  unsigned send(rte_mbuf** mbufs, unsigned n) {
    if (*frees) rte_pktmbuf_free_bulk(mbufs, n);
    return n;
  }
};

}  // namespace splitplane::bench

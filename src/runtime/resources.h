// DPDK's rings, pools and memory as objects that free themselves.
#pragma once

#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <memory>
#include <string>

namespace splitplane::app {

struct FreePool {
  void operator()(rte_mempool* pool) const { rte_mempool_free(pool); }
};
using Pool = std::unique_ptr<rte_mempool, FreePool>;

// Packets that are still on a ring go back to their pools with it.
struct FreeRing {
  void operator()(rte_ring* ring) const {
    void* packet = nullptr;
    while (rte_ring_sc_dequeue(ring, &packet) == 0) rte_pktmbuf_free(static_cast<rte_mbuf*>(packet));
    rte_ring_free(ring);
  }
};
using Ring = std::unique_ptr<rte_ring, FreeRing>;

// A ring of numbers and not of packets, so nothing on it is freed.
struct FreeNumberRing {
  void operator()(rte_ring* ring) const { rte_ring_free(ring); }
};
using NumberRing = std::unique_ptr<rte_ring, FreeNumberRing>;

struct FreeDpdkMemory {
  void operator()(void* memory) const { rte_free(memory); }
};
template <class T>
using DpdkArray = std::unique_ptr<T[], FreeDpdkMemory>;

// Zeroed, cache-line aligned; nullptr if there is no room.
template <class T>
[[nodiscard]] DpdkArray<T> make_dpdk_array(const char* name, std::size_t count) {
  return DpdkArray<T>(static_cast<T*>(rte_zmalloc(name, count * sizeof(T), 64)));
}

}  // namespace splitplane::app

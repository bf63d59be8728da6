// For tests only: real mbufs and rings in ordinary memory. DPDK is started once for the process by the
// environment of test_dpdk.h.
#pragma once

#include <gtest/gtest.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <cstring>
#include <string>
#include <vector>

namespace splitplane::datapath::test {

using Bytes = std::vector<std::uint8_t>;

// Names of DPDK objects are process-wide.
inline std::string unique_name(const char* what) {
  static unsigned n = 0;
  return what + std::to_string(n++);
}

// A pool that must be complete again when it is destroyed.
class Pool {
 public:
  explicit Pool(unsigned mbufs = 256, std::uint16_t room = 2048 + RTE_PKTMBUF_HEADROOM)
      : pool_(rte_pktmbuf_pool_create(unique_name("pool").c_str(), mbufs, 0, 0, room, SOCKET_ID_ANY)) {
    if (pool_ == nullptr) throw std::runtime_error("no memory for a pool");
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    EXPECT_EQ(rte_mempool_in_use_count(pool_), 0U) << "mbufs did not return to their pool";
    rte_mempool_free(pool_);
  }

  // An mbuf that holds a copy of `octets`; nullptr when there is none left.
  [[nodiscard]] rte_mbuf* make(const Bytes& octets, std::uint16_t headroom = RTE_PKTMBUF_HEADROOM) {
    rte_mbuf* m = rte_pktmbuf_alloc(pool_);
    if (m == nullptr) return nullptr;
    m->data_off = headroom;
    char* const at = rte_pktmbuf_append(m, static_cast<std::uint16_t>(octets.size()));
    if (!octets.empty()) std::memcpy(at, octets.data(), octets.size());
    return m;
  }
  // The same octets in two segments.
  [[nodiscard]] rte_mbuf* make_segmented(const Bytes& octets, std::size_t first) {
    const auto at = octets.begin() + static_cast<std::ptrdiff_t>(first);
    rte_mbuf* head = make({octets.begin(), at});
    rte_pktmbuf_chain(head, make({at, octets.end()}));
    return head;
  }
  [[nodiscard]] unsigned in_use() const { return rte_mempool_in_use_count(pool_); }
  [[nodiscard]] rte_mempool* get() const { return pool_; }

 private:
  rte_mempool* pool_;
};

// A ring that frees what it still holds.
class Ring {
 public:
  explicit Ring(unsigned slots)
      : ring_(rte_ring_create(unique_name("ring").c_str(), slots, SOCKET_ID_ANY,
                              RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ)) {
    if (ring_ == nullptr) throw std::runtime_error("no memory for a ring");
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() {
    while (rte_mbuf* m = take()) rte_pktmbuf_free(m);
    rte_ring_free(ring_);
  }

  [[nodiscard]] rte_mbuf* take() {
    void* m = nullptr;
    return rte_ring_sc_dequeue(ring_, &m) == 0 ? static_cast<rte_mbuf*>(m) : nullptr;
  }
  // Takes and frees everything; returns the octets in order.
  std::vector<Bytes> drain() {
    std::vector<Bytes> all;
    while (rte_mbuf* m = take()) {
      const auto* at = rte_pktmbuf_mtod(m, const std::uint8_t*);
      all.emplace_back(at, at + m->data_len);
      rte_pktmbuf_free(m);
    }
    return all;
  }
  [[nodiscard]] unsigned count() const { return rte_ring_count(ring_); }
  [[nodiscard]] rte_ring* get() const { return ring_; }

 private:
  rte_ring* ring_;
};

}  // namespace splitplane::datapath::test

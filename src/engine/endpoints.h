// Sources and sinks of packets. A function takes them as template parameters. So the same pipeline runs on ports, on
// rings from a dispatching worker, and on the buffers of the bench.
#pragma once

#include <rte_ethdev.h>
#include <rte_prefetch.h>
#include <rte_ring.h>

#include <cstring>
#include <variant>

#include "engine/burst.h"
#include "engine/idle.h"
#include "engine/tap_lane.h"

namespace splitplane::datapath {

// One receive queue of a port.
struct EthSource {
  std::uint16_t port = 0, queue = 0;
  const TapPoint* tap = &kUntapped;

  unsigned receive(Burst& burst) {
    burst.size = rte_eth_rx_burst(port, queue, burst.mbuf.data(), kBurst);
    if (tap->taps_in()) [[unlikely]]
      tap->take_received(burst.mbuf.data(), burst.size);
    return burst.size;
  }
  // At the end of a worker's life: none, because packets go on to arrive at a port.
  unsigned take_left(Burst& burst) { return burst.size = 0; }
  // Number of packets in the queue; below 0 if the driver cannot tell.
  [[nodiscard]] int waiting() const { return rte_eth_rx_queue_count(port, queue); }
  [[nodiscard]] unsigned entries() const {
    rte_eth_rxq_info info{};
    return rte_eth_rx_queue_info_get(port, queue, &info) == 0 && info.nb_desc != 0 ? info.nb_desc : kUnknownEntries;
  }
  [[nodiscard]] WakeSource wake_source() const { return {WakeSource::Kind::port, port, queue}; }
};

// A single-consumer ring that another thread fills.
struct RingSource {
  rte_ring* ring = nullptr;

  unsigned receive(Burst& burst) {
    burst.size = rte_ring_sc_dequeue_burst(ring, reinterpret_cast<void**>(burst.mbuf.data()), kBurst, nullptr);
    return burst.size;
  }
  // At the end of a worker's life the ring is emptied: its producer has stopped.
  unsigned take_left(Burst& burst) { return receive(burst); }
  [[nodiscard]] int waiting() const { return static_cast<int>(rte_ring_count(ring)); }
  [[nodiscard]] unsigned entries() const { return rte_ring_get_capacity(ring); }
  [[nodiscard]] WakeSource wake_source() const { return {WakeSource::Kind::ring}; }
};

// A source of one of several kinds. The kind is chosen at run time.
template <class... Sources>
struct AnySource {
  std::variant<Sources...> kind;

  unsigned receive(Burst& burst) {
    return std::visit([&](auto& source) { return source.receive(burst); }, kind);
  }
  unsigned take_left(Burst& burst) {
    return std::visit([&](auto& source) { return source.take_left(burst); }, kind);
  }
  [[nodiscard]] int waiting() const {
    return std::visit([](const auto& source) { return source.waiting(); }, kind);
  }
  [[nodiscard]] unsigned entries() const {
    return std::visit([](const auto& source) { return source.entries(); }, kind);
  }
  [[nodiscard]] WakeSource wake_source() const {
    return std::visit([](const auto& source) { return source.wake_source(); }, kind);
  }
};

// A source as a function's receive queue. It keeps one burst ahead of the function while the source is full. The next
// burst is received before this one is processed, so that its cache lines arrive meanwhile. A burst that was not full
// is passed on at once, so nothing waits here under light load.
template <class Source>
class Lookahead {
 public:
  Lookahead() = default;
  explicit Lookahead(Source source) : source_(source) {}

  unsigned receive(Burst& burst) {
    if (pending_.size == 0) {
      if (source_.receive(pending_) == 0) {
        burst.size = 0;
        return 0;
      }
      for (unsigned i = 0; i < pending_.size; ++i) {
        rte_prefetch0(pending_.mbuf[i]);
        prefetch_octets(pending_.mbuf[i]);
      }
    }
    take_held(burst);
    if (burst.size == kBurst) source_.receive(pending_);
    burst.ahead = pending_.mbuf.data();
    burst.ahead_size = pending_.size;
    return burst.size;
  }

  // At the end of a worker's life: takes the burst that was received ahead, then what the source has left.
  unsigned take_left(Burst& burst) {
    if (take_held(burst) != 0) return burst.size;
    if constexpr (requires { source_.take_left(burst); }) return source_.take_left(burst);
    return 0;
  }

  // Takes the burst that was received ahead, without receiving another.
  unsigned take_held(Burst& burst) {
    burst.size = pending_.size;
    std::memcpy(burst.mbuf.data(), pending_.mbuf.data(), pending_.size * sizeof(rte_mbuf*));
    burst.ahead_size = 0;
    pending_.size = 0;
    return burst.size;
  }
  // As waiting() of the source, plus the burst that was received ahead.
  [[nodiscard]] int waiting() const {
    const int behind = source_.waiting();
    return behind < 0 ? behind : behind + static_cast<int>(pending_.size);
  }
  [[nodiscard]] unsigned entries() const { return source_.entries(); }
  [[nodiscard]] WakeSource wake_source() const { return source_.wake_source(); }

 private:
  Source source_;
  Burst pending_;
};

// A single-producer ring that another thread empties. What it has no room for is not sent; the caller counts and frees
// it.
struct RingSink {
  rte_ring* ring = nullptr;

  unsigned send(rte_mbuf* const* mbufs, unsigned n) {
    return rte_ring_sp_enqueue_burst(ring, reinterpret_cast<void* const*>(mbufs), n, nullptr);
  }
};

// One transmit queue of a port. If the queue stays full for kRetries attempts, the rest of the burst is not sent; the
// caller counts and frees it.
struct EthSink {
  static constexpr unsigned kRetries = 64;
  std::uint16_t port = 0, queue = 0;
  // The driver passes the mbuf itself to its receiver (net_ring), so a shared packet must be sent as a copy.
  bool passes_mbufs = false;
  const TapPoint* tap = &kUntapped;

  unsigned send(rte_mbuf** mbufs, unsigned n) {
    if (tap->taps_out()) [[unlikely]]
      return send_tapped(mbufs, n);
    return transmit(mbufs, n);
  }

 private:
  // Makes the copies before the port may write to the packets or free them. Packets that the port does not take are not
  // part of the capture.
  [[gnu::noinline]] unsigned send_tapped(rte_mbuf** mbufs, unsigned n) {
    tap->hold(mbufs, n);
    const unsigned sent = transmit(mbufs, n);
    tap->release(sent);
    return sent;
  }
  unsigned transmit(rte_mbuf** mbufs, unsigned n) {
    unsigned sent = rte_eth_tx_burst(port, queue, mbufs, static_cast<std::uint16_t>(n));
    for (unsigned tries = 0; sent < n && tries < kRetries; ++tries) {
      sent += rte_eth_tx_burst(port, queue, mbufs + sent, static_cast<std::uint16_t>(n - sent));
    }
    return sent;
  }
};

}  // namespace splitplane::datapath

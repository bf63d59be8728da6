// The worker's side of a tap: copies of the packets that pass one of its ports go on a ring to a writer. A port end
// without a tap pays one load and one predictable branch a burst.
#pragma once

#include <rte_mbuf.h>
#include <rte_ring.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/counter.h"
#include "base/expected.h"
#include "base/types.h"

namespace splitplane::datapath {

// The values are those of pcapng's epb_flags.
enum class TapDirection : std::uint8_t { kIn = 1, kOut = 2 };

// The time of taps: CLOCK_REALTIME in nanoseconds.
[[nodiscard]] std::uint64_t tap_time_ns();

// What a copy carries beside its octets, in the private area of its mbuf.
struct TapMark {
  std::uint64_t time_ns;  // CLOCK_REALTIME of its burst
  std::uint32_t bytes;    // length of the packet; the copy may hold fewer
  TapDirection direction;
  bool wanted;  // false: the port did not take it, so it was never sent
};

// A lane between one worker and one writer. Both rings, that of the copies and that inside the pool, have one producer
// and one consumer. The worker only takes buffers, and the writer only gives them back. So neither makes the other
// wait.
class TapLane {
 public:
  struct Settings {
    unsigned buffers = 8191;
    std::uint16_t snap = 2048;            // octets kept of each packet
    std::optional<std::uint32_t> bearer;  // air: only frames with this identity in airhdr
  };
  static constexpr unsigned kMost = 64;  // packets of one call that are copied; a burst has at most 32

  static Expected<std::unique_ptr<TapLane>> make(const Settings& settings);
  // Octets of DPDK memory that a lane needs.
  [[nodiscard]] static std::size_t memory_bytes(unsigned buffers, unsigned snap);
  ~TapLane();
  TapLane(const TapLane&) = delete;
  TapLane& operator=(const TapLane&) = delete;

  // On the worker's thread: copies packets that were received, or that are about to be sent. Then says how many of the
  // latter the port took.
  void take_received(rte_mbuf* const* mbufs, unsigned n);
  void hold(rte_mbuf* const* mbufs, unsigned n);
  void release(unsigned sent);
  [[nodiscard]] std::uint64_t dropped() const { return dropped_.get(); }

  // On the writer's thread: the oldest copies, which the writer gives back together.
  unsigned receive(std::span<rte_mbuf*> into);
  static void give_back(std::span<rte_mbuf*> copies) {
    rte_pktmbuf_free_bulk(copies.data(), static_cast<unsigned>(copies.size()));
  }
  [[nodiscard]] static const TapMark& mark(rte_mbuf* copy) { return *static_cast<TapMark*>(rte_mbuf_to_priv(copy)); }

 private:
  friend class TapPoint;
  explicit TapLane(const Settings& settings) : settings_(settings) {}
  void copy(rte_mbuf* const* mbufs, unsigned n, TapDirection direction);
  [[nodiscard]] bool concerns(rte_mbuf* m) const;

  Settings settings_;
  rte_mempool* pool_ = nullptr;
  rte_ring* ring_ = nullptr;
  std::array<rte_mbuf*, kMost> held_{};
  unsigned held_count_ = 0;
  Counter dropped_;  // no buffer was free, because the writer is slow
  TapLane* next_in_ = nullptr;
  TapLane* next_out_ = nullptr;
};

// One worker's end of one port, and the lanes that tap it. Only that worker's thread changes it.
class TapPoint {
 public:
  void attach(TapLane& lane, bool in, bool out);
  void detach(TapLane& lane);

  [[nodiscard]] bool taps_in() const { return in_ != nullptr; }
  [[nodiscard]] bool taps_out() const { return out_ != nullptr; }
  [[gnu::noinline]] void take_received(rte_mbuf* const* mbufs, unsigned n) const;
  [[gnu::noinline]] void hold(rte_mbuf* const* mbufs, unsigned n) const;
  [[gnu::noinline]] void release(unsigned sent) const;

 private:
  TapLane* in_ = nullptr;
  TapLane* out_ = nullptr;
};

// For ports outside a running user plane (bench, tests): never tapped.
inline constinit TapPoint kUntapped{};

}  // namespace splitplane::datapath

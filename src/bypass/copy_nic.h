// A NIC whose DMA consists of copies that another engine makes. It fetches descriptors, copies payload, and writes
// descriptors back, in this order, a batch at a time for each ring and direction. Frames go to the ring that the RSS
// and filters of an 82599 would choose. The Copier makes the copies: a GPU's copy engine, or memcpy in tests.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "base/counter.h"
#include "gpu/rings/descriptor.h"
#include "gpu/rings/memory_order.h"
#include "gpu/rings/ring_memory.h"
#include "nicmodel/steering.h"
#include "nicmodel/wire.h"

namespace splitplane::bypass {

// Copier(batch, slot_bytes): one direction of a ring, with a `mirror` of `batch` descriptors and a frame of slot_bytes
// for each. fetch(), payload() and write_back() begin copies, which are made in their order. is_done() returns true if
// all are made. It may throw, which ends the run.
template <class Copier>
class CopyNic {
 public:
  static constexpr std::uint32_t kMostInBatch = 64, kWaiting = 512, kArrivals = 32;

  // `rings` have the engines' addresses, which are bus addresses too. `tails` are RDT and TDT of each, at the host's
  // addresses.
  CopyNic(const std::vector<gpu::Ring>& rings, const std::vector<gpu::Doorbells>& tails, nicmodel::Steering steering,
          nicmodel::Wire& wire)
      : steering_(std::move(steering)), wire_(wire) {
    for (std::size_t i = 0; i < rings.size(); ++i) {
      rings_.push_back(std::make_unique<OneRing>(rings[i], tails[i]));
    }
  }

  // One round: arriving frames go to their rings, and each ring's batches go one step further. Returns the packets
  // moved.
  std::uint32_t step(std::uint64_t now_ns) {
    std::uint32_t moved = take_arrivals(now_ns);
    for (auto& ring : rings_) {
      moved += receive(*ring);
      moved += transmit(*ring, now_ns);
    }
    return moved;
  }
  [[nodiscard]] std::uint64_t lost() const { return lost_.get(); }

 private:
  enum class Phase : std::uint8_t { kIdle, kFetching, kCopying };

  struct Side {
    Side(gpu::Descriptor* ring, std::uint32_t* tail_register, std::uint32_t size, std::uint32_t slot_bytes)
        : engine_ring(ring), tail(tail_register), mask(size - 1), copier(kMostInBatch, slot_bytes) {}
    // How many descriptors the driver gave: at most a batch, and not beyond the ring's end.
    [[nodiscard]] std::uint32_t ready() const {
      const std::uint32_t given = (gpu::load_acquire(tail) - head) & mask;
      return std::min({given, mask + 1 - head, kMostInBatch});
    }
    void fetch(std::uint32_t n) {
      count = n;
      copier.fetch(engine_ring + head, n);
      phase = Phase::kFetching;
    }
    void write_back() {
      copier.write_back(engine_ring + head, count);
      phase = Phase::kCopying;
    }
    std::uint32_t finish() {
      head = (head + count) & mask;
      phase = Phase::kIdle;
      return count;
    }

    gpu::Descriptor* engine_ring;
    std::uint32_t* tail;
    std::uint32_t mask, head = 0, count = 0;
    Phase phase = Phase::kIdle;
    std::array<std::uint32_t, kMostInBatch> bytes{};
    Copier copier;
  };
  struct OneRing {
    OneRing(const gpu::Ring& r, const gpu::Doorbells& tails)
        : rx(r.rx, tails.rdt, r.settings.ring_size, r.settings.slot_bytes),
          tx(r.tx, tails.tdt, r.settings.ring_size, r.settings.slot_bytes),
          slot_bytes(r.settings.slot_bytes) {}
    Side rx, tx;
    std::uint32_t slot_bytes;
    std::deque<std::vector<std::uint8_t>> waiting;  // the packet buffer
  };

  std::uint32_t take_arrivals(std::uint64_t now_ns) {
    nicmodel::WireFrame frames[kArrivals];
    const std::uint32_t n = wire_.arrive(frames, kArrivals, now_ns);
    for (std::uint32_t i = 0; i < n; ++i) {
      OneRing& ring = *rings_[steering_.steer(frames[i].octets, frames[i].bytes).ring];
      if (ring.waiting.size() >= kWaiting || frames[i].bytes > ring.slot_bytes) {
        lost_.add(1);
      } else {
        ring.waiting.emplace_back(frames[i].octets, frames[i].octets + frames[i].bytes);
      }
    }
    return n;
  }

  std::uint32_t receive(OneRing& ring) {
    Side& s = ring.rx;
    if (s.phase == Phase::kIdle) {
      const auto n = std::min<std::uint32_t>(s.ready(), static_cast<std::uint32_t>(ring.waiting.size()));
      if (n != 0) s.fetch(n);
      return 0;
    }
    if (!s.copier.is_done()) return 0;
    if (s.phase == Phase::kCopying) return s.finish();
    copy(s, [&](std::uint32_t i, void*& to, const void*& from) {
      const std::vector<std::uint8_t>& frame = ring.waiting.front();
      s.bytes[i] = static_cast<std::uint32_t>(frame.size());
      std::memcpy(s.copier.frame(i), frame.data(), frame.size());
      ring.waiting.pop_front();
      gpu::Descriptor& d = s.copier.mirror[i];
      to = reinterpret_cast<void*>(gpu::rx_buffer(d));
      from = s.copier.frame(i);
      d = gpu::make_rx_write_back({.length = static_cast<std::uint16_t>(s.bytes[i])});
    });
    s.write_back();
    return 0;
  }

  std::uint32_t transmit(OneRing& ring, std::uint64_t now_ns) {
    Side& s = ring.tx;
    if (s.phase == Phase::kIdle) {
      if (const std::uint32_t n = s.ready(); n != 0) s.fetch(n);
      return 0;
    }
    if (!s.copier.is_done()) return 0;
    if (s.phase == Phase::kCopying) {
      for (std::uint32_t first = 0; first < s.count;) {
        nicmodel::WireFrame frames[kArrivals];
        const std::uint32_t n = std::min(kArrivals, s.count - first);
        for (std::uint32_t i = 0; i < n; ++i) frames[i] = {s.copier.frame(first + i), s.bytes[first + i]};
        first += wire_.leave(frames, n, now_ns);
      }
      return s.finish();
    }
    copy(s, [&](std::uint32_t i, void*& to, const void*& from) {
      gpu::Descriptor& d = s.copier.mirror[i];
      s.bytes[i] = std::min(gpu::tx_length(d.hi), ring.slot_bytes);
      to = s.copier.frame(i);
      from = reinterpret_cast<const void*>(gpu::tx_buffer(d));
      if (gpu::tx_wants_report(d.hi)) d = gpu::make_tx_write_back();
    });
    s.write_back();
    return 0;
  }

  // One call for the payloads of a batch.
  template <class Plan>
  void copy(Side& s, Plan plan) {
    std::array<void*, kMostInBatch> to{};
    std::array<const void*, kMostInBatch> from{};
    std::array<std::size_t, kMostInBatch> sizes{};
    for (std::uint32_t i = 0; i < s.count; ++i) {
      plan(i, to[i], from[i]);
      sizes[i] = s.bytes[i];
    }
    s.copier.payload(to.data(), from.data(), sizes.data(), s.count);
  }

  nicmodel::Steering steering_;
  nicmodel::Wire& wire_;
  std::vector<std::unique_ptr<OneRing>> rings_;
  Counter lost_;
};

}  // namespace splitplane::bypass

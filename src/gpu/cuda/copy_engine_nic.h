// E1: a NIC whose DMA is the GPU's copy engine. Rings and slots are in the device's memory, tails in host memory mapped
// into it, so a doorbell is a posted write over PCIe. Per ring and direction one batch is under way: descriptors are
// fetched, payload is copied, descriptors are written back, in this order on one stream, which keeps payload before DD.
// The copy engine reads host memory where a NIC writes: its latency is not a NIC's. Not run on a GPU so far.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "bypass/scenario.h"
#include "gpu/cuda/persistent.cuh"
#include "gpu/descriptor.h"
#include "nicmodel/wire.h"
#include "wire/bytes.h"

namespace splitplane::gpu {

class CopyEngineNic {
 public:
  static constexpr std::uint32_t kMostInBatch = 64, kWaiting = 512, kArrivals = 32;

  // `rings`: with the device's addresses, which are bus addresses too; `tails`: RDT and TDT of each, the host's
  // address.
  CopyEngineNic(const std::vector<Ring>& rings, const std::vector<Doorbells>& tails, nicmodel::Wire& wire)
      : wire_(wire) {
    for (std::size_t i = 0; i < rings.size(); ++i) {
      rings_.push_back(std::make_unique<OneRing>(rings[i], tails[i]));
    }
  }

  // One round: what arrives goes to its ring, and each ring's batches go one step further. Packets moved.
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

  // One direction of a ring: a batch of descriptors, mirrored in pinned memory, and frames of theirs.
  struct Side {
    Side(Descriptor* ring, std::uint32_t* tail_register, std::uint32_t size, std::uint32_t slot_bytes)
        : device(ring), tail(tail_register), mask(size - 1), stride(slot_bytes) {
      mirror = mapped_array<Descriptor>(kMostInBatch);
      frames = mapped_array<std::uint8_t>(std::size_t{kMostInBatch} * slot_bytes);
      must(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
    }
    ~Side() { cudaEventDestroy(event); }
    [[nodiscard]] bool is_done() const {
      const cudaError_t e = cudaEventQuery(event);
      if (e != cudaErrorNotReady) must(e, "the copy engine");
      return e == cudaSuccess;
    }
    // How many descriptors the driver gave, up to the ring's end and a batch.
    [[nodiscard]] std::uint32_t ready() const {
      const std::uint32_t given = (load_acquire(tail) - head) & mask;
      return std::min({given, mask + 1 - head, kMostInBatch});
    }
    void fetch(std::uint32_t n) {
      count = n;
      must(cudaMemcpyAsync(mirror.get(), device + head, n * sizeof(Descriptor), cudaMemcpyDeviceToHost, stream),
           "fetch");
      mark(Phase::kFetching);
    }
    void write_back() {
      must(cudaMemcpyAsync(device + head, mirror.get(), count * sizeof(Descriptor), cudaMemcpyHostToDevice, stream),
           "write-back");
      mark(Phase::kCopying);
    }
    void mark(Phase next) {
      must(cudaEventRecord(event, stream), "cudaEventRecord");
      phase = next;
    }
    [[nodiscard]] std::uint8_t* frame(std::uint32_t i) const { return frames.get() + std::size_t{i} * stride; }

    Descriptor* device;
    std::uint32_t* tail;
    std::uint32_t mask, stride, head = 0, count = 0;
    Phase phase = Phase::kIdle;
    HostPointer<Descriptor> mirror;
    HostPointer<std::uint8_t> frames;
    std::array<std::uint32_t, kMostInBatch> bytes{};
    Stream stream;
    cudaEvent_t event = nullptr;
  };
  struct OneRing {
    OneRing(const Ring& r, const Doorbells& tails)
        : rx(r.rx, tails.rdt, r.settings.ring_size, r.settings.slot_bytes),
          tx(r.tx, tails.tdt, r.settings.ring_size, r.settings.slot_bytes) {}
    Side rx, tx;
    std::deque<std::vector<std::uint8_t>> waiting;  // the packet buffer
  };

  std::uint32_t take_arrivals(std::uint64_t now_ns) {
    nicmodel::WireFrame frames[kArrivals];
    const std::uint32_t n = wire_.arrive(frames, kArrivals, now_ns);
    for (std::uint32_t i = 0; i < n; ++i) {
      // Each flow of the bench has a UDP source port of its own, behind Ethernet and IPv4 without options.
      OneRing& ring = *rings_[wire::load_be16(frames[i].octets + 34) % rings_.size()];
      if (ring.waiting.size() >= kWaiting) {
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
    if (!s.is_done()) return 0;
    if (s.phase == Phase::kCopying) {
      s.head = (s.head + s.count) & s.mask;
      s.phase = Phase::kIdle;
      return s.count;
    }
    copy(s, [&](std::uint32_t i, void*& to, const void*& from) {
      const std::vector<std::uint8_t>& frame = ring.waiting.front();
      s.bytes[i] = static_cast<std::uint32_t>(frame.size());
      std::memcpy(s.frame(i), frame.data(), frame.size());
      ring.waiting.pop_front();
      to = reinterpret_cast<void*>(rx_buffer(s.mirror[i]));
      from = s.frame(i);
      s.mirror[i] = make_rx_write_back({.length = static_cast<std::uint16_t>(s.bytes[i])});
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
    if (!s.is_done()) return 0;
    if (s.phase == Phase::kCopying) {
      for (std::uint32_t first = 0; first < s.count;) {
        nicmodel::WireFrame frames[kArrivals];
        const std::uint32_t n = std::min(kArrivals, s.count - first);
        for (std::uint32_t i = 0; i < n; ++i) frames[i] = {s.frame(first + i), s.bytes[first + i]};
        first += wire_.leave(frames, n, now_ns);
      }
      s.head = (s.head + s.count) & s.mask;
      s.phase = Phase::kIdle;
      return s.count;
    }
    copy(s, [&](std::uint32_t i, void*& to, const void*& from) {
      s.bytes[i] = tx_length(s.mirror[i].hi);
      to = s.frame(i);
      from = reinterpret_cast<const void*>(tx_buffer(s.mirror[i]));
      s.mirror[i] = make_tx_write_back();
    });
    s.write_back();
    return 0;
  }

  // One call for the payloads of a batch; they stay in the stream's order among other work (source access in stream
  // order).
  template <class Plan>
  void copy(Side& s, Plan plan) {
    std::array<void*, kMostInBatch> to{};
    std::array<const void*, kMostInBatch> from{};
    std::array<std::size_t, kMostInBatch> sizes{};
    for (std::uint32_t i = 0; i < s.count; ++i) {
      plan(i, to[i], from[i]);
      sizes[i] = s.bytes[i];
    }
    cudaMemcpyAttributes attributes{};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    std::size_t first = 0;
    must(cudaMemcpyBatchAsync(to.data(), from.data(), sizes.data(), s.count, &attributes, &first, 1, s.stream),
         "payload");
  }

  nicmodel::Wire& wire_;
  std::vector<std::unique_ptr<OneRing>> rings_;
  Counter lost_;
};

}  // namespace splitplane::gpu

// For tests of nicmodel/ only: the smallest possible ring driver, on the caller's thread, after Nic82599's bring-up.
// Slots stay with their descriptors: a frame that comes in on a ring leaves from the same slot before the slot is given
// back.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "gpu/nic/nic_82599.h"
#include "gpu/rings/descriptor.h"
#include "gpu/rings/memory_order.h"
#include "nicmodel/nic_82599_model.h"

namespace splitplane::nicmodel::test {

// Memory on a page, which is freed at the end.
class Pages {
 public:
  explicit Pages(std::size_t bytes, int filler = 0xA5)
      : bytes_((bytes + 4095) / 4096 * 4096), at_(static_cast<std::uint8_t*>(std::aligned_alloc(4096, bytes_))) {
    std::memset(at_.get(), filler, bytes_);
  }
  [[nodiscard]] std::uint8_t* get() const { return at_.get(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t bus() const { return reinterpret_cast<std::uintptr_t>(at_.get()); }

 private:
  struct Free {
    void operator()(std::uint8_t* p) const { std::free(p); }
  };
  std::size_t bytes_;
  std::unique_ptr<std::uint8_t, Free> at_;
};

// Bounded waiting without sleeping: it only counts the requested time.
struct NoSleep {
  std::chrono::microseconds* total = nullptr;
  void operator()(std::chrono::microseconds time) const {
    if (total != nullptr) *total += time;
  }
};

class EchoDriver {
 public:
  EchoDriver(Nic82599Model& model, std::uint32_t rings, gpu::NicSettings settings = {})
      : settings_(std::move(settings)),
        size_(settings_.descriptors),
        memory_(std::size_t{rings} * size_ * (2 * sizeof(gpu::Descriptor) + settings_.slot_bytes)) {
    std::uint8_t* at = memory_.get();
    for (std::uint32_t n = 0; n < rings; ++n) {
      Ring ring;
      ring.rx = reinterpret_cast<gpu::Descriptor*>(at);
      ring.tx = ring.rx + size_;
      at += 2 * size_ * sizeof(gpu::Descriptor);
      rings_.push_back(ring);
    }
    for (Ring& ring : rings_) {
      ring.slots = at;
      at += std::size_t{size_} * settings_.slot_bytes;
    }
    model.add_memory(memory_.get(), memory_.bytes());
  }
  [[nodiscard]] std::vector<gpu::RingAddresses> addresses() const {
    std::vector<gpu::RingAddresses> all;
    for (const Ring& ring : rings_) {
      all.push_back({reinterpret_cast<std::uintptr_t>(ring.rx), reinterpret_cast<std::uintptr_t>(ring.tx)});
    }
    return all;
  }
  Expected<void> up(Nic82599Model& model, gpu::Nic82599::Sleep sleep = NoSleep{}) {
    auto nic = gpu::Nic82599::bring_up(model, settings_, addresses(), std::move(sleep));
    if (!nic) return tl::unexpected(nic.error());
    nic_ = std::make_unique<gpu::Nic82599>(std::move(*nic));
    for (std::uint32_t n = 0; n < rings_.size(); ++n) {
      Ring& ring = rings_[n];
      ring.rdt = nic_->receive_doorbell(n);
      ring.tdt = nic_->transmit_doorbell(n);
      for (std::uint32_t i = 0; i < size_; ++i) give(ring, i);
      gpu::ring_doorbell(ring.rdt, size_ - 1);
    }
    return nic_->start();
  }
  [[nodiscard]] gpu::Nic82599& nic() { return *nic_; }
  [[nodiscard]] std::uint8_t* slot(std::uint32_t ring, std::uint32_t i) {
    return rings_[ring].slots + std::size_t{i} * settings_.slot_bytes;
  }
  [[nodiscard]] gpu::Descriptor& rx(std::uint32_t ring, std::uint32_t i) { return rings_[ring].rx[i]; }
  [[nodiscard]] gpu::Descriptor& tx(std::uint32_t ring, std::uint32_t i) { return rings_[ring].tx[i]; }

  // Sends received frames and gives sent slots back. Returns the frames that came in.
  std::uint32_t step(std::uint32_t n) {
    Ring& ring = rings_[n];
    std::uint32_t taken = 0;
    // A ring has at most size_ - 1 descriptors with the NIC, so the transmit ring never overflows.
    while (taken < 32) {
      gpu::Descriptor& d = ring.rx[ring.next];
      const std::uint64_t hi = gpu::load_acquire(&d.hi);
      if (!gpu::rx_is_done(hi) || ring.next == ring.hole) break;
      const gpu::Descriptor out =
          gpu::make_tx_data(reinterpret_cast<std::uintptr_t>(slot_of(ring, ring.next)), gpu::rx_length(hi));
      ring.tx[ring.next].lo = out.lo;
      gpu::store_relaxed(&ring.tx[ring.next].hi, out.hi);
      ring.next = (ring.next + 1) % size_;
      ++taken;
    }
    if (taken != 0) gpu::ring_doorbell(ring.tdt, ring.next);
    std::uint32_t back = 0;
    while (ring.clean != ring.next && gpu::tx_is_done(gpu::load_acquire(&ring.tx[ring.clean].hi))) {
      // The slot that was sent becomes the hole, which the NIC never has. The slot before it is refilled.
      give(ring, ring.hole);
      ring.hole = ring.clean;
      ring.clean = (ring.clean + 1) % size_;
      ++back;
    }
    if (back != 0) gpu::ring_doorbell(ring.rdt, ring.hole);
    return taken;
  }
  std::uint32_t step() {
    std::uint32_t taken = 0;
    for (std::uint32_t n = 0; n < rings_.size(); ++n) taken += step(n);
    return taken;
  }

 private:
  struct Ring {
    gpu::Descriptor *rx = nullptr, *tx = nullptr;
    std::uint8_t* slots = nullptr;
    std::uint32_t *rdt = nullptr, *tdt = nullptr;
    std::uint32_t next = 0, clean = 0, hole = ~0U;
  };
  [[nodiscard]] std::uint8_t* slot_of(const Ring& ring, std::uint32_t i) const {
    return ring.slots + std::size_t{i} * settings_.slot_bytes;
  }
  void give(Ring& ring, std::uint32_t i) {
    if (ring.hole == ~0U) ring.hole = size_ - 1;
    ring.rx[i].lo = reinterpret_cast<std::uintptr_t>(slot_of(ring, i));
    gpu::store_relaxed(&ring.rx[i].hi, std::uint64_t{0});
  }
  gpu::NicSettings settings_;
  std::uint32_t size_;
  Pages memory_;
  std::vector<Ring> rings_;
  std::unique_ptr<gpu::Nic82599> nic_;
};

}  // namespace splitplane::nicmodel::test

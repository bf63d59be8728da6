// For tests only: the DMA side of a NIC, with as little as the engines need. It fills receive descriptors up to the
// last tail, and takes what transmit descriptors say. Bus addresses are the host's. nicmodel/ has the full model.
#pragma once

#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "gpu/rings/launch.h"
#include "gpu/rings/ring_memory.h"

namespace splitplane::gpu::test {

using Bytes = std::vector<std::uint8_t>;

// Memory and registers of some rings on the host.
struct Bench {
  explicit Bench(const RingSettings& wanted = {}, std::uint32_t count = 1)
      : settings(wanted), rdt(count * kStride), tdt(count * kStride) {
    const RingMemoryNeeds need = needs(settings, count);
    const MemoryPiece dma = piece(need.dma), local = piece(need.local), shared = piece(need.shared);
    std::vector<Doorbells> doorbells;
    for (std::uint32_t i = 0; i < count; ++i) doorbells.push_back({&rdt[i * kStride], &tdt[i * kStride]});
    rings = lay_out(settings, dma, local, shared, doorbells);
    view = shared_view(shared.host, count);
    dma_begin = dma.host;
    dma_bytes = need.dma;
  }

  RingSettings settings;
  std::vector<Ring> rings;
  SharedView view;
  std::uint8_t* dma_begin;
  std::size_t dma_bytes;

 private:
  static constexpr std::size_t kStride = 16;  // registers are 0x40 apart
  MemoryPiece piece(std::size_t bytes) {
    blocks_.push_back(std::unique_ptr<std::uint8_t[], Free>(
        static_cast<std::uint8_t*>(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096))));
    std::uint8_t* const p = blocks_.back().get();
    std::memset(p, 0, bytes);
    return {p, p, reinterpret_cast<std::uint64_t>(p), bytes};
  }
  struct Free {
    void operator()(std::uint8_t* p) const { std::free(p); }
  };
  std::vector<std::unique_ptr<std::uint8_t[], Free>> blocks_;
  std::vector<std::uint32_t> rdt, tdt;
};

// One ring's DMA. The test decides which faults it makes.
class TestNic {
 public:
  explicit TestNic(const Ring& ring) : ring_(ring), size_(ring.settings.ring_size) {}

  bool hears_doorbells = true;
  bool sends = true;
  std::uint64_t missed = 0;     // frames without a descriptor
  std::uint64_t rdt_moves = 0;  // changes of the tail that it saw
  std::uint64_t tdt_moves = 0;
  std::uint64_t reports = 0;  // transmit descriptors that requested DD, and got it

  // Reads both tails.
  void listen() {
    if (!hears_doorbells) return;
    const std::uint32_t rdt = load_acquire(ring_.rdt), tdt = load_acquire(ring_.tdt);
    rdt_moves += rdt != rdt_ ? 1 : 0;
    tdt_moves += tdt != tdt_ ? 1 : 0;
    rdt_ = rdt;
    tdt_ = tdt;
  }
  [[nodiscard]] std::uint32_t free_descriptors() const { return (rdt_ - rx_head_) & (size_ - 1); }

  // One frame from the wire; returns false if it was missed.
  bool receive(std::span<const std::uint8_t> frame) {
    return receive(frame, make_rx_write_back({.length = static_cast<std::uint16_t>(frame.size())}));
  }
  bool receive(std::span<const std::uint8_t> frame, const Descriptor& write_back) {
    listen();
    if (free_descriptors() == 0) {
      ++missed;
      return false;
    }
    std::memcpy(reinterpret_cast<std::uint8_t*>(ring_.rx[rx_head_].lo), frame.data(), frame.size());
    complete(write_back);
    return true;
  }
  // Marks a descriptor done without octets. The test writes them later, to the returned address.
  std::uint8_t* receive_early(std::uint16_t length) {
    listen();
    auto* const slot = reinterpret_cast<std::uint8_t*>(ring_.rx[rx_head_].lo);
    complete(make_rx_write_back({.length = length}));
    return slot;
  }

  // Frames that the sender gave; at most `most`.
  std::vector<Bytes> transmit(unsigned most = 1000) {
    listen();
    std::vector<Bytes> frames;
    for (; sends && tx_head_ != tdt_ && frames.size() < most; tx_head_ = (tx_head_ + 1) & (size_ - 1)) {
      Descriptor& d = ring_.tx[tx_head_];
      const auto* const octets = reinterpret_cast<const std::uint8_t*>(d.lo);
      frames.emplace_back(octets, octets + tx_length(load_relaxed(&d.hi)));
      if (!tx_wants_report(load_relaxed(&d.hi))) continue;
      ++reports;
      store_release(&d.hi, make_tx_write_back().hi);
    }
    return frames;
  }

 private:
  void complete(const Descriptor& write_back) {
    ring_.rx[rx_head_].lo = write_back.lo;
    store_release(&ring_.rx[rx_head_].hi, write_back.hi);
    rx_head_ = (rx_head_ + 1) & (size_ - 1);
  }

  Ring ring_;
  std::uint32_t size_;
  std::uint32_t rx_head_ = 0, tx_head_ = 0, rdt_ = 0, tdt_ = 0;
};

// A frame whose every octet depends on its number.
inline Bytes numbered_frame(std::uint64_t number, std::size_t bytes) {
  Bytes frame(bytes);
  for (std::size_t i = 0; i < bytes; ++i) frame[i] = static_cast<std::uint8_t>(number * 31 + i * 7 + (number >> 8));
  wire::store_be64(frame.data(), number);
  return frame;
}

}  // namespace splitplane::gpu::test

// The baseline beside the ring engines: a plain poll-mode driver. It runs to completion in one thread, as DPDK's
// forwarding loop does: a burst from the receive ring, the function, the transmit ring, and slots back by a stack. The
// Worker decides where the function works. It may work in the slots, or in another memory: then it copies a batch there
// and back, the classic way to a GPU.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/counter.h"
#include "gpu/rings/functions.h"
#include "gpu/rings/lane.h"
#include "gpu/rings/memory_order.h"
#include "gpu/rings/ring.h"
#include "wire/ethernet.h"

namespace splitplane::bypass {

struct PlainPacket {
  std::uint32_t slot, offset, length;
  gpu::Verdict verdict;
};

struct PlainCounters {  // any thread may read them
  Counter received, sent, dropped, doorbells;
};

// Works where the NIC put the packets.
template <class Function>
struct InPlace {
  Function function;
  void work(const gpu::SlotMemory& slots, std::span<PlainPacket> packets) {
    for (PlainPacket& p : packets) {
      gpu::Frame frame{slots.at(p.slot), p.length, slots.at(p.slot), slots.slot_bytes};
      p.verdict = function.process(gpu::CpuLane{}, frame);
      p.offset = static_cast<std::uint32_t>(frame.data - frame.slot);
      p.length = frame.length;
    }
  }
};

// Copies a batch to another memory, works there, and copies it back: memcpy for the bus.
template <class Function>
class Staged {
 public:
  Staged(const Function& function, std::uint32_t batch, std::uint32_t slot_bytes)
      : function_(function), there_(std::make_unique<std::uint8_t[]>(std::size_t{batch} * slot_bytes)) {}
  void work(const gpu::SlotMemory& slots, std::span<PlainPacket> packets) {
    std::uint8_t* at = there_.get();
    for (const PlainPacket& p : packets) {
      std::memcpy(at, slots.at(p.slot), p.length);
      at += slots.slot_bytes;
    }
    at = there_.get();
    for (PlainPacket& p : packets) {
      gpu::Frame frame{at, p.length, at, slots.slot_bytes};
      p.verdict = function_.process(gpu::CpuLane{}, frame);
      p.offset = static_cast<std::uint32_t>(frame.data - at);
      p.length = frame.length;
      at += slots.slot_bytes;
    }
    at = there_.get();
    for (const PlainPacket& p : packets) {
      std::memcpy(slots.at(p.slot) + p.offset, at + p.offset, p.length);
      at += slots.slot_bytes;
    }
  }

 private:
  Function function_;
  std::unique_ptr<std::uint8_t[]> there_;
};

template <class Worker>
class PlainDriver {
 public:
  // The worker gets a batch when it has `batch` packets, or after `within_ns`; 0: at the end of each step.
  PlainDriver(const gpu::Ring& ring, Worker worker, std::uint32_t batch, std::uint64_t within_ns)
      : ring_(ring),
        worker_(std::move(worker)),
        batch_(batch),
        within_ns_(within_ns),
        mask_(ring.settings.ring_size - 1) {
    const gpu::RingSettings& s = ring.settings;
    for (std::uint32_t i = 0; i < s.ring_size; ++i) {
      ring_.rx_slot[i] = ring_.first_slot + i;
      ring_.rx[i] = gpu::make_rx_read(ring_.slots.bus_of(ring_.first_slot + i));
      ring_.tx[i] = {};
    }
    for (std::uint32_t i = s.ring_size; i < s.slots; ++i) free_.push_back(ring_.first_slot + i);
    waiting_.reserve(batch);
  }

  // One round: completed slots, a burst, the function, and both tails. Returns the packets received.
  std::uint32_t step(std::uint64_t now_ns) {
    if (!begun_) {
      begun_ = true;
      gpu::ring_doorbell(ring_.rdt, mask_);
    }
    reclaim();
    const std::uint32_t received = receive(now_ns);
    if (!waiting_.empty() && (waiting_.size() == batch_ || now_ns - waiting_since_ >= within_ns_)) work();
    if (told_ != tx_next_) {
      gpu::ring_doorbell(ring_.tdt, tx_next_ & mask_);
      told_ = tx_next_;
      counters_.doorbells.add(1);
    }
    return received;
  }
  [[nodiscard]] bool is_idle() const { return waiting_.empty() && tx_clean_ == tx_next_; }
  [[nodiscard]] const PlainCounters& counters() const { return counters_; }
  // True if every slot is in a receive descriptor or on the stack. Call it when the driver has stopped.
  [[nodiscard]] bool slots_are_sound() const {
    std::vector<bool> seen(ring_.settings.slots);
    std::size_t found = 0;
    const auto see = [&](std::uint32_t slot) {
      const std::uint32_t i = slot - ring_.first_slot;
      if (i < seen.size() && !seen[i]) seen[i] = true, ++found;
    };
    for (std::uint32_t i = 0; i <= mask_; ++i) see(ring_.rx_slot[i]);
    for (const std::uint32_t slot : free_) see(slot);
    return found == seen.size() && free_.size() + mask_ + 1 == seen.size();
  }

 private:
  void reclaim() {
    while (tx_clean_ != tx_next_ && gpu::tx_is_done(gpu::load_acquire(&ring_.tx[tx_clean_ & mask_].hi))) {
      free_.push_back(ring_.tx_slot[tx_clean_ & mask_]);
      ++tx_clean_;
    }
  }

  // Takes no more packets than fit into the transmit ring and the batch, so that none has to wait or be dropped later.
  std::uint32_t receive(std::uint64_t now_ns) {
    const std::uint32_t room = ring_.settings.ring_size - 1 - (tx_next_ - tx_clean_);
    const auto waiting = static_cast<std::uint32_t>(waiting_.size());
    const std::uint32_t fits = gpu::least(batch_, room) - gpu::least(waiting, gpu::least(batch_, room));
    const std::uint32_t limit = gpu::least(gpu::kBatch, fits);
    std::uint32_t n = 0;
    for (; n < limit && !free_.empty(); ++n) {
      const std::uint32_t at = rx_next_ & mask_;
      const std::uint64_t hi = gpu::load_acquire(&ring_.rx[at].hi);
      if (!gpu::rx_is_done(hi)) break;
      const std::uint32_t slot = ring_.rx_slot[at];
      ring_.rx_slot[at] = free_.back();
      free_.pop_back();
      ring_.rx[at].lo = ring_.slots.bus_of(ring_.rx_slot[at]);
      gpu::store_relaxed(&ring_.rx[at].hi, std::uint64_t{0});
      ++rx_next_;
      take(slot, hi, now_ns);
    }
    if (n == 0) return 0;
    counters_.received.add(n);
    gpu::ring_doorbell(ring_.rdt, (rx_next_ - 1) & mask_);
    counters_.doorbells.add(1);
    return n;
  }

  void take(std::uint32_t slot, std::uint64_t hi, std::uint64_t now_ns) {
    const std::uint32_t length = gpu::rx_length(hi);
    if (!gpu::rx_is_whole(hi) || length < wire::ethernet::kHeaderBytes || length > ring_.settings.slot_bytes) {
      drop(slot);
      return;
    }
    if (waiting_.empty()) waiting_since_ = now_ns;
    waiting_.push_back({slot, 0, length, gpu::Verdict::refused});
  }

  void work() {
    worker_.work(ring_.slots, waiting_);
    for (const PlainPacket& p : waiting_) {
      if (p.verdict != gpu::Verdict::send) {
        drop(p.slot);
        continue;
      }
      const std::uint32_t at = tx_next_ & mask_;
      const gpu::Descriptor d = gpu::make_tx_data(ring_.slots.bus_of(p.slot) + p.offset, p.length);
      ring_.tx_slot[at] = p.slot;
      ring_.tx[at].lo = d.lo;
      gpu::store_relaxed(&ring_.tx[at].hi, d.hi);
      ++tx_next_;
      counters_.sent.add(1);
    }
    waiting_.clear();
  }

  void drop(std::uint32_t slot) {
    counters_.dropped.add(1);
    free_.push_back(slot);
  }

  gpu::Ring ring_;
  Worker worker_;
  std::uint32_t batch_;
  std::uint64_t within_ns_;
  std::uint32_t mask_;
  std::vector<std::uint32_t> free_;
  std::vector<PlainPacket> waiting_;
  std::uint64_t waiting_since_ = 0;
  bool begun_ = false;
  std::uint32_t rx_next_ = 0, tx_next_ = 0, tx_clean_ = 0, told_ = 0;
  PlainCounters counters_;
};

}  // namespace splitplane::bypass

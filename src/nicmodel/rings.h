// The model's side of a ring: the registers that it latched when the ring was enabled, and the position of its DMA
// engine. It shares only the tail words and the memory behind the addresses with the driver.
#pragma once

#include <cstdint>
#include <memory>

#include "gpu/rings/descriptor.h"
#include "gpu/rings/memory_order.h"
#include "nicmodel/fault.h"

namespace splitplane::nicmodel {

struct ModelRing {
  bool enabled = false;
  bool stopped = false;  // InjectedFault::stops
  gpu::Descriptor* descriptors = nullptr;
  std::uint32_t size = 0;
  std::uint32_t head = 0;
  std::uint32_t tail = 0;       // the last tail that was valid
  std::uint32_t refused = ~0U;  // the last tail beyond the ring, counted once
  std::uint32_t set = 0;        // counters of the queue (RQSMR, TQSM)
  std::uint32_t* tail_word = nullptr;

  [[nodiscard]] std::uint32_t after(std::uint32_t index) const { return index + 1 == size ? 0 : index + 1; }

  // Reads the tail register. What the driver stored before its doorbell is visible after this.
  void look(DriverFaults& faults) {
    const std::uint32_t now = gpu::load_acquire(tail_word);
    if (now < size) {
      tail = now;
    } else if (now != refused) {
      refused = now;
      faults.count(DriverFault::tail_beyond_ring);
    }
  }
};

struct ReceiveRing : ModelRing {
  std::uint32_t buffer_bytes = 0;  // SRRCTL.BSIZEPACKET
  bool drop = false;               // SRRCTL.DROP_EN
};
struct TransmitRing : ModelRing {};

// The receive packet buffer (8.2.3.8.9): received frames that wait for a descriptor of a ring without DROP_EN, and the
// frames behind them. They lie one after the other, each with its length in front.
class PacketBuffer {
 public:
  explicit PacketBuffer(std::uint32_t bytes) : bytes_(bytes), octets_(std::make_unique<std::uint8_t[]>(bytes)) {}

  [[nodiscard]] bool empty() const { return frames_ == 0; }
  [[nodiscard]] std::uint32_t frames() const { return frames_; }
  // Returns false if it is full.
  [[nodiscard]] bool push(const std::uint8_t* frame, std::uint32_t n) {
    const std::uint32_t needed = room_of(n);
    // At the end a frame that does not fit begins again at 0; the length 0 marks that.
    const std::uint32_t skip = write_ + needed > bytes_ ? bytes_ - write_ : 0;
    if (used_ + skip + needed > bytes_) return false;
    if (skip != 0) {
      store(write_, 0);
      write_ = 0;
    }
    store(write_, n);
    __builtin_memcpy(&octets_[write_ + kLengthBytes], frame, n);
    write_ = (write_ + needed) % bytes_;
    used_ += skip + needed;
    ++frames_;
    return true;
  }
  [[nodiscard]] const std::uint8_t* front(std::uint32_t& n) {
    n = load(read_);
    if (n == 0) {
      used_ -= bytes_ - read_;
      read_ = 0;
      n = load(0);
    }
    return &octets_[read_ + kLengthBytes];
  }
  void pop() {
    const std::uint32_t room = room_of(load(read_));
    read_ = (read_ + room) % bytes_;
    used_ -= room;
    --frames_;
  }
  void clear() { read_ = write_ = used_ = frames_ = 0; }

 private:
  static constexpr std::uint32_t kLengthBytes = 8;  // frames stay aligned
  static std::uint32_t room_of(std::uint32_t n) { return kLengthBytes + (n + 7U) / 8U * 8U; }
  void store(std::uint32_t at, std::uint32_t value) { __builtin_memcpy(&octets_[at], &value, sizeof value); }
  [[nodiscard]] std::uint32_t load(std::uint32_t at) const {
    std::uint32_t value = 0;
    __builtin_memcpy(&value, &octets_[at], sizeof value);
    return value;
  }
  std::uint32_t bytes_, read_ = 0, write_ = 0, used_ = 0, frames_ = 0;
  std::unique_ptr<std::uint8_t[]> octets_;
};

}  // namespace splitplane::nicmodel

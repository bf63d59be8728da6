// The heap model of PacketBuffer, for tests and tools. Each buffer's octets are a heap block of exactly its size, so
// AddressSanitizer sees an access beyond it. The freeze check is on in every build. The model is as strict as an
// rte_mbuf.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "buf/packet_buffer.h"

namespace splitplane::buf {

class HeapBuffer {
 public:
  HeapBuffer() noexcept = default;
  HeapBuffer(HeapBuffer&& other) noexcept : segment_(std::exchange(other.segment_, nullptr)) {}
  HeapBuffer& operator=(HeapBuffer&& other) noexcept {
    if (this != &other) {
      release();
      segment_ = std::exchange(other.segment_, nullptr);
    }
    return *this;
  }
  ~HeapBuffer() { release(); }

  explicit operator bool() const noexcept { return segment_ != nullptr; }
  [[nodiscard]] const std::uint8_t* data() const noexcept;
  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] bool writable() const noexcept;
  [[nodiscard]] std::size_t headroom() const noexcept;
  [[nodiscard]] std::size_t tailroom() const noexcept;

  [[nodiscard]] std::uint8_t* mutable_data() noexcept;
  [[nodiscard]] std::uint8_t* prepend(std::size_t n) noexcept;
  [[nodiscard]] std::uint8_t* append(std::size_t n) noexcept;
  [[nodiscard]] bool trim_front(std::size_t n) noexcept;
  [[nodiscard]] bool trim_back(std::size_t n) noexcept;

  [[nodiscard]] HeapBuffer share() noexcept;
  [[nodiscard]] HeapBuffer split(std::size_t at) noexcept;
  void release() noexcept;

  // Returns false if octets changed after share() or split() froze them. release() aborts then.
  [[nodiscard]] bool intact() const noexcept;

 private:
  friend class HeapPool;
  struct Storage;
  struct Segment;
  explicit HeapBuffer(Segment* segment) noexcept : segment_(segment) {}
  [[nodiscard]] bool may_trim() const noexcept;
  void freeze() noexcept;
  void thaw() noexcept;
  void guard_room() noexcept;

  Segment* segment_ = nullptr;
};

static_assert(PacketBuffer<HeapBuffer>);
static_assert(sizeof(HeapBuffer) == sizeof(void*));

struct HeapPoolOptions {
  std::size_t headroom = 128;  // as RTE_PKTMBUF_HEADROOM
  std::size_t tailroom = 0;
  std::size_t limit = std::numeric_limits<std::size_t>::max();  // live buffers; make and split fail beyond
};

// Makes heap buffers and counts them. It must outlive its buffers: its destructor aborts with their number if some are
// left.
class HeapPool {
 public:
  explicit HeapPool(HeapPoolOptions options = {}) noexcept : options_(options) {}
  HeapPool(const HeapPool&) = delete;
  HeapPool& operator=(const HeapPool&) = delete;
  ~HeapPool();

  // A buffer of `size` octets of 0xa5; empty at the limit or without memory.
  [[nodiscard]] HeapBuffer make(std::size_t size) noexcept;
  // A buffer that holds a copy of `content`.
  [[nodiscard]] HeapBuffer make(std::span<const std::uint8_t> content) noexcept;
  // Buffers in use. A shared buffer counts once, and each part of a split buffer counts (as mbufs of a mempool do).
  [[nodiscard]] std::size_t live() const noexcept { return live_.load(std::memory_order_acquire); }

 private:
  friend class HeapBuffer;
  [[nodiscard]] HeapBuffer::Segment* take(HeapBuffer::Storage* storage) noexcept;

  HeapPoolOptions options_;
  std::atomic<std::size_t> live_{0};
};

}  // namespace splitplane::buf

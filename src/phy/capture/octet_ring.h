// Records of octets from one thread to another: one producer, one consumer, memory taken at the start. Neither waits:
// a record for which there is no room is refused.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <vector>

#include "wire/bytes.h"

namespace splitplane::phy {

class OctetRing {
 public:
  // Room for records of `bytes` in all, each with four octets more; rounded up to a power of two.
  explicit OctetRing(std::size_t bytes)
      : mask_(std::bit_ceil(bytes) - 1), octets_(std::make_unique<std::uint8_t[]>(mask_ + 1)) {}

  // One record made of the pieces. False: there is no room.
  bool push(std::initializer_list<wire::Octets> pieces) {
    std::uint32_t bytes = 0;
    for (const wire::Octets piece : pieces) bytes += static_cast<std::uint32_t>(piece.size());
    std::size_t at = head_.load(std::memory_order_relaxed);
    const std::size_t used = at - tail_.load(std::memory_order_acquire);
    if (used + kLengthBytes + bytes > mask_ + 1) return false;
    at = put(at, {reinterpret_cast<const std::uint8_t*>(&bytes), kLengthBytes});
    for (const wire::Octets piece : pieces) at = put(at, piece);
    head_.store(at, std::memory_order_release);
    return true;
  }

  // Takes the oldest record. False: there is none.
  bool pop(std::vector<std::uint8_t>& record) {
    const std::size_t at = tail_.load(std::memory_order_relaxed);
    if (at == head_.load(std::memory_order_acquire)) return false;
    std::uint32_t bytes = 0;
    get(at, {reinterpret_cast<std::uint8_t*>(&bytes), kLengthBytes});
    record.resize(bytes);
    get(at + kLengthBytes, record);
    tail_.store(at + kLengthBytes + bytes, std::memory_order_release);
    return true;
  }

 private:
  static constexpr std::size_t kLengthBytes = sizeof(std::uint32_t);

  [[nodiscard]] std::size_t put(std::size_t at, wire::Octets from) {
    const std::size_t place = at & mask_, first = std::min(from.size(), mask_ + 1 - place);
    wire::copy_octets(octets_.get() + place, from.data(), first);
    wire::copy_octets(octets_.get(), from.data() + first, from.size() - first);
    return at + from.size();
  }
  void get(std::size_t at, wire::MutableOctets into) const {
    const std::size_t place = at & mask_, first = std::min(into.size(), mask_ + 1 - place);
    wire::copy_octets(into.data(), octets_.get() + place, first);
    wire::copy_octets(into.data() + first, octets_.get(), into.size() - first);
  }

  const std::size_t mask_;
  const std::unique_ptr<std::uint8_t[]> octets_;
  alignas(64) std::atomic<std::size_t> head_{0};  // the producer's: octets ever pushed
  alignas(64) std::atomic<std::size_t> tail_{0};  // the consumer's: octets ever taken
};

}  // namespace splitplane::phy

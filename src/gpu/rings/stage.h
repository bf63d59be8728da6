// The frames between the host and a NIC whose DMA is a processor of the GPU: a ring of frames in host memory that is
// mapped into the GPU, with one producer and one consumer. Each of the two writes a count that the other reads: octets
// first, then the count, released at system scope.
//
//   place   | frame, at most stride - 16 octets, behind 0 to 15 octets of padding | bytes 16, padding 16 |
//
// The padding lets a processor copy 16 octets at a time from wherever the frame begins. Counts have 32 bits and wrap:
// the only 64-bit words that a kernel acquires at system scope are descriptors, which is how its PTX is tested for
// them.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/host_device.h"
#include "gpu/rings/memory_order.h"

namespace splitplane::gpu {

inline constexpr std::uint32_t kStagePiece = 16;  // octets copied at a time

struct Stage {
  std::uint8_t* frames = nullptr;    // places * stride octets, at a multiple of 16
  std::uint32_t* lengths = nullptr;  // of each place
  std::uint32_t* written = nullptr;  // written by the producer, in a separate line
  std::uint32_t* taken = nullptr;    // written by the consumer, in a separate line
  std::uint32_t places = 0;          // a power of 2
  std::uint32_t stride = 0;          // a multiple of 16, at least 16 more than the longest frame

  [[nodiscard]] SPLITPLANE_HD std::uint8_t* at(std::uint32_t count) const {
    return frames + static_cast<std::uint64_t>(count & (places - 1)) * stride;
  }
  [[nodiscard]] SPLITPLANE_HD std::uint32_t* length(std::uint32_t count) const {
    return lengths + (count & (places - 1));
  }
  [[nodiscard]] SPLITPLANE_HD static constexpr std::uint32_t word(std::uint32_t bytes, std::uint32_t padding) {
    return bytes | padding << 16;
  }
  [[nodiscard]] SPLITPLANE_HD static constexpr std::uint32_t bytes_of(std::uint32_t word) { return word & 0xffffU; }
  [[nodiscard]] SPLITPLANE_HD static constexpr std::uint32_t padding_of(std::uint32_t word) { return word >> 16; }

  // Octets that a stage needs: frames, lengths, and a line for each count.
  [[nodiscard]] static constexpr std::size_t needs(std::uint32_t places, std::uint32_t stride) {
    return static_cast<std::size_t>(places) * stride + static_cast<std::size_t>(places) * 4 + 2 * kLine;
  }
  // The memory must be zero and begin at a multiple of 128.
  [[nodiscard]] static Stage lay_out(std::uint8_t* memory, std::uint32_t places, std::uint32_t stride) {
    auto* const counts = reinterpret_cast<std::uint32_t*>(memory);
    auto* const lengths = counts + 2 * kLine / 4;
    return {reinterpret_cast<std::uint8_t*>(lengths + places), lengths, counts, counts + kLine / 4, places, stride};
  }
  static constexpr std::size_t kLine = 128;
};

// The host's end of a stage that it fills.
class StageWriter {
 public:
  explicit StageWriter(const Stage& stage) : stage_(stage) {}
  // Returns false if the stage is full, or if the frame is longer than a place.
  [[nodiscard]] bool put(const std::uint8_t* octets, std::uint32_t bytes) {
    if (written_ - taken_ == stage_.places) taken_ = load_acquire(stage_.taken);
    if (written_ - taken_ == stage_.places || bytes + kStagePiece > stage_.stride) return false;
    std::memcpy(stage_.at(written_), octets, bytes);
    *stage_.length(written_) = Stage::word(bytes, 0);
    ++written_;
    return true;
  }
  // Makes the frames visible to the other end.
  void publish() { store_release(stage_.written, written_); }

 private:
  Stage stage_;
  std::uint32_t written_ = 0, taken_ = 0;
};

// The host's end of a stage that it empties.
class StageReader {
 public:
  explicit StageReader(const Stage& stage) : stage_(stage) {}
  [[nodiscard]] std::uint32_t ready() const { return load_acquire(stage_.written) - taken_; }
  // Frame `i` of those that are ready.
  [[nodiscard]] const std::uint8_t* frame(std::uint32_t i, std::uint32_t& bytes) const {
    const std::uint32_t word = *stage_.length(taken_ + i);
    bytes = Stage::bytes_of(word);
    return stage_.at(taken_ + i) + Stage::padding_of(word);
  }
  // The first `n` frames may be overwritten.
  void take(std::uint32_t n) { store_release(stage_.taken, taken_ += n); }

 private:
  Stage stage_;
  std::uint32_t taken_ = 0;
};

}  // namespace splitplane::gpu

// A cable between two models, each on a separate thread or both in lock-step. Frames that leave one model arrive at the
// other. A frame is copied into the cable once. If the far end does not take frames, they stay in the near end's rings.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>

#include "nicmodel/wire.h"

namespace splitplane::nicmodel {

class Cable {
 public:
  static constexpr std::uint32_t kFrames = 256;  // under way in each direction
  static constexpr std::uint32_t kFrameBytes = 16 * 1024;

  Cable() : ends_{End(lanes_[0], lanes_[1]), End(lanes_[1], lanes_[0])} {}

  // `which` is 0 or 1: one end for each model.
  [[nodiscard]] Wire& end(unsigned which) { return ends_[which]; }

 private:
  // One direction: one producer, one consumer.
  struct Lane {
    alignas(64) std::atomic<std::uint32_t> written{0};
    alignas(64) std::atomic<std::uint32_t> read{0};
    std::array<std::uint32_t, kFrames> lengths{};
    std::unique_ptr<std::uint8_t[]> octets = std::make_unique<std::uint8_t[]>(std::size_t{kFrames} * kFrameBytes);
  };
  class End final : public Wire {
   public:
    End(Lane& out, Lane& in) : out_(&out), in_(&in) {}

    std::uint32_t arrive(WireFrame* frames, std::uint32_t max, std::uint64_t /*now_ns*/) override {
      in_->read.store(taken_, std::memory_order_release);  // those of the last call are done with
      const std::uint32_t there = in_->written.load(std::memory_order_acquire) - taken_;
      const std::uint32_t n = there < max ? there : max;
      for (std::uint32_t i = 0; i < n; ++i, ++taken_) {
        const std::uint32_t at = taken_ % kFrames;
        frames[i] = {&in_->octets[std::size_t{at} * kFrameBytes], in_->lengths[at]};
      }
      return n;
    }
    std::uint32_t leave(const WireFrame* frames, std::uint32_t n, std::uint64_t /*now_ns*/) override {
      const std::uint32_t written = out_->written.load(std::memory_order_relaxed);
      const std::uint32_t room = kFrames - (written - out_->read.load(std::memory_order_acquire));
      if (n > room) n = room;
      for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t at = (written + i) % kFrames;
        std::memcpy(&out_->octets[std::size_t{at} * kFrameBytes], frames[i].octets, frames[i].bytes);
        out_->lengths[at] = frames[i].bytes;
      }
      out_->written.store(written + n, std::memory_order_release);
      return n;
    }

   private:
    Lane *out_, *in_;
    std::uint32_t taken_ = 0;
  };
  std::array<Lane, 2> lanes_;
  std::array<End, 2> ends_;
};

}  // namespace splitplane::nicmodel

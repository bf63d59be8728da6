// The network functions that process a frame between receiver and sender. A function is an object per ring: it changes
// the frame in its slot and returns the verdict. Each lane calls it with a different frame; `lane` is collective among
// the lanes that have one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/host_device.h"
#include "gpu/rings/verdict.h"
#include "wire/bytes.h"

namespace splitplane::gpu {

// A frame in its slot: `data` may move within [slot, slot + slot_bytes).
struct Frame {
  std::uint8_t* data;
  std::uint32_t length;
  std::uint8_t* slot;
  std::uint32_t slot_bytes;
};

// The paper's function: the frame leaves as it came.
struct Echo {
  template <class Lane>
  SPLITPLANE_HD Verdict process(Lane /*lane*/, Frame& /*frame*/) {
    return Verdict::send;
  }
};

// Sends the frame back to its sender.
struct MacSwap {
  template <class Lane>
  SPLITPLANE_HD Verdict process(Lane /*lane*/, Frame& frame) {
    std::uint8_t* p = frame.data;
    const std::uint64_t to_and_more = wire::load_be64(p);    // destination, first two octets of the source
    const std::uint32_t from_rest = wire::load_be32(p + 8);  // last four of the source
    wire::store_be64(p, (to_and_more << 48) | static_cast<std::uint64_t>(from_rest) << 16 | to_and_more >> 48);
    wire::store_be32(p + 8, static_cast<std::uint32_t>(to_and_more >> 16));
    return Verdict::send;
  }
};

}  // namespace splitplane::gpu

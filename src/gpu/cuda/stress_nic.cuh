// E4: a NIC that is a kernel beside the engines, with one warp for each ring. It makes frames in the rings' buffers,
// writes descriptors back, and takes frames from the senders. No frame crosses a bus. So this stresses rings and memory
// order far beyond the rate of a link, and measures no latency. It has not run on a GPU so far.
#pragma once

#include "gpu/cuda/engine_kernels.cuh"

namespace splitplane::gpu {

// Counters of one ring, in host memory mapped into the device; its warp writes them.
struct alignas(128) StressCounters {
  std::uint64_t arrived, left, octets;
  std::uint64_t wrong;  // out of order, or not the frame that was sent
};

struct StressSettings {
  std::uint32_t frame_octets;  // without CRC
  std::uint32_t window;        // frames under way
  std::uint64_t limit_ns;
};

// `pause`: no more frames arrive. `stop`: the warp ends.
struct StressFlags {
  std::uint32_t pause, stop;
};

namespace detail {

// Where the number is in a frame: after the Ethernet header, at a multiple of 8.
inline constexpr std::uint32_t kNumberAt = 16;

__device__ inline void fill_frame(std::uint8_t* frame, std::uint64_t number, std::uint32_t octets) {
  auto* const words = reinterpret_cast<std::uint64_t*>(frame);
  words[0] = 0x0002'0100'9059'8202ULL;  // addresses as the model's traffic has them
  words[1] = 0x0045'0008'0200'0000ULL;
  words[kNumberAt / 8] = number;
  for (std::uint32_t i = kNumberAt / 8 + 1; i < octets / 8; ++i) words[i] = number * 0x9e37'79b9'7f4a'7c15ULL + i;
}

__device__ inline bool is_frame(const std::uint8_t* frame, std::uint64_t number, std::uint32_t octets) {
  const auto* const words = reinterpret_cast<const std::uint64_t*>(frame);
  bool good = words[kNumberAt / 8] == number;
  for (std::uint32_t i = kNumberAt / 8 + 1; i < octets / 8; ++i) {
    good = good && words[i] == number * 0x9e37'79b9'7f4a'7c15ULL + i;
  }
  return good;
}

}  // namespace detail

// A bus address in a descriptor is the device's own address here.
static __global__ void stress_nic_kernel(const Ring* rings, const StressFlags* flags, StressSettings settings,
                                         StressCounters* counters) {
  const WarpLane lane = WarpLane::mine();
  const Ring ring = rings[blockIdx.x];
  StressCounters& visible = counters[blockIdx.x];
  const std::uint32_t mask = ring.settings.ring_size - 1;
  std::uint32_t rx_head = 0, tx_head = 0;
  std::uint64_t arrived = 0, left = 0, wrong = 0;
  const std::uint64_t begin = globaltimer_ns();
  for (std::uint64_t now = begin; now - begin < settings.limit_ns; now = lane.shfl(globaltimer_ns(), 0)) {
    if (lane.shfl(load_relaxed(&flags->stop), 0) != 0) break;
    // Transmit: frames between head and tail. Ring and wire keep the order, so the next number is known.
    const std::uint32_t tx_tail = lane.shfl(load_acquire(ring.tdt), 0);
    lane.sync();
    const std::uint32_t gone = least((tx_tail - tx_head) & mask, WarpLane::width);
    bool bad = false;
    if (lane.id < gone) {
      const std::uint32_t at = (tx_head + lane.id) & mask;
      const auto* const frame = reinterpret_cast<const std::uint8_t*>(ring.tx[at].lo);
      bad = !detail::is_frame(frame, left + lane.id, settings.frame_octets);
      store_release(&ring.tx[at].hi, make_tx_write_back().hi);
    }
    wrong += count_ones(lane.ballot(bad));
    tx_head = (tx_head + gone) & mask;
    left += gone;
    // Receive: as many frames as there are descriptors and room in the window.
    const std::uint32_t rx_tail = lane.shfl(load_acquire(ring.rdt), 0);
    lane.sync();
    const auto under_way = static_cast<std::uint32_t>(arrived - left);
    const bool paused = lane.shfl(load_relaxed(&flags->pause), 0) != 0;
    const std::uint32_t room = paused || under_way >= settings.window ? 0 : settings.window - under_way;
    const std::uint32_t come = least(least((rx_tail - rx_head) & mask, room), WarpLane::width);
    if (lane.id < come) {
      Descriptor& d = ring.rx[(rx_head + lane.id) & mask];
      detail::fill_frame(reinterpret_cast<std::uint8_t*>(d.lo), arrived + lane.id, settings.frame_octets);
      store_release(&d.hi, make_rx_write_back({.length = static_cast<std::uint16_t>(settings.frame_octets)}).hi);
    }
    rx_head = (rx_head + come) & mask;
    arrived += come;
    if (lane.id != 0) continue;
    store_relaxed(&visible.arrived, arrived);
    store_relaxed(&visible.left, left);
    store_relaxed(&visible.octets, left * settings.frame_octets);
    store_relaxed(&visible.wrong, wrong);
  }
}

}  // namespace splitplane::gpu

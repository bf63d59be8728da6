// The classic way to a GPU, as a Worker of the plain driver: it copies a batch to the device, one kernel processes it,
// and it copies the batch back. Each batch costs a launch and two waits. It has not run on a GPU so far.
#pragma once

#include <array>

#include "bypass/plain_driver.h"
#include "gpu/cuda/persistent.cuh"

namespace splitplane::gpu {

// One lane for each packet. `there` has slot_bytes for each.
template <class Function>
__global__ void batch_kernel(Function* function, std::uint8_t* there, std::uint32_t slot_bytes,
                             bypass::PlainPacket* packets, std::uint32_t n) {
  __shared__ AesTable table;
  Function local = *function;
  use_shared_table(local, table);
  const WarpLane lane = WarpLane::mine();
  const std::uint32_t i = blockIdx.x * WarpLane::width + lane.id;
  const std::uint32_t here = lane.ballot(i < n);
  if (i >= n) return;
  bypass::PlainPacket& p = packets[i];
  std::uint8_t* const at = there + std::size_t{i} * slot_bytes;
  Frame frame{at, p.length, at, slot_bytes};
  p.verdict = local.process(lane.only(here), frame);
  p.offset = static_cast<std::uint32_t>(frame.data - at);
  p.length = frame.length;
}

template <class Function>
class StagedOnGpu {
 public:
  StagedOnGpu(Function* function, std::uint32_t batch, std::uint32_t slot_bytes)
      : function_(function),
        there_(device_array<std::uint8_t>(std::size_t{batch} * slot_bytes)),
        packets_(mapped_array<bypass::PlainPacket>(batch)),
        stream_(std::make_unique<Stream>()) {}

  void work(const SlotMemory& slots, std::span<bypass::PlainPacket> packets) {
    const auto n = static_cast<std::uint32_t>(packets.size());
    std::copy(packets.begin(), packets.end(), packets_.get());
    copy(packets, [&](std::uint32_t i, void*& to, const void*& from) {
      to = there_.get() + std::size_t{i} * slots.slot_bytes;
      from = slots.at(packets[i].slot);
    });
    // Bearers are numbered in the order of packets, so one warp works after the other.
    for (std::uint32_t first = 0; first < n; first += WarpLane::width) {
      batch_kernel<<<1, 32, 0, *stream_>>>(function_, there_.get() + std::size_t{first} * slots.slot_bytes,
                                           slots.slot_bytes, packets_.get() + first, std::min(n - first, 32U));
    }
    must(cudaGetLastError(), "batch_kernel");
    must(cudaStreamSynchronize(*stream_), "batch_kernel");  // only now are the lengths of the packets known
    std::copy(packets_.get(), packets_.get() + n, packets.begin());
    copy(packets, [&](std::uint32_t i, void*& to, const void*& from) {
      to = slots.at(packets[i].slot) + packets[i].offset;
      from = there_.get() + std::size_t{i} * slots.slot_bytes + packets[i].offset;
    });
    must(cudaStreamSynchronize(*stream_), "copy back");
  }

 private:
  template <class Plan>
  void copy(std::span<const bypass::PlainPacket> packets, Plan plan) {
    to_.resize(packets.size()), from_.resize(packets.size()), sizes_.resize(packets.size());
    for (std::uint32_t i = 0; i < packets.size(); ++i) {
      plan(i, to_[i], from_[i]);
      sizes_[i] = packets[i].length;
    }
    cudaMemcpyAttributes attributes{};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    std::size_t first = 0;
    must(cudaMemcpyBatchAsync(to_.data(), from_.data(), sizes_.data(), sizes_.size(), &attributes, &first, 1, *stream_),
         "copy of a batch");
  }

  Function* function_;
  DevicePointer<std::uint8_t> there_;
  HostPointer<bypass::PlainPacket> packets_;
  std::unique_ptr<Stream> stream_;
  std::vector<void*> to_;
  std::vector<const void*> from_;
  std::vector<std::size_t> sizes_;
};

}  // namespace splitplane::gpu

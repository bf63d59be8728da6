// E3: a NIC whose DMA engine is processors of the GPU that the engines leave free. Rings and slots are in the device's
// memory. A kernel of two warps for each ring (frame_mover.h) moves frames between them and stages in host memory that
// is mapped into the device. It uses the bus as a NIC does: loads of host memory for received frames, posted writes for
// sent ones, payload before descriptor and before count. It calls no copy engine for each batch, so the bus limits the
// rate and not CUDA's driver. Two things differ from a NIC. It reads where the link would write to a NIC, so a frame
// pays one more round trip of the bus; and doorbells stay in the device. It has not run on a GPU so far.
#pragma once

#include <memory>
#include <vector>

#include "gpu/cuda/engine_kernels.cuh"
#include "gpu/cuda/persistent.cuh"
#include "gpu/rings/frame_mover.h"
#include "nicmodel/steering.h"
#include "nicmodel/wire.h"

namespace splitplane::gpu {

// The stages of one ring.
struct Stages {
  Stage in, out;
};

// Block 2n receives for ring n, block 2n + 1 sends; each has one warp.
static __global__ void processor_nic_kernel(const Ring* rings, const Stages* stages, const std::uint32_t* stop,
                                            std::uint64_t limit_ns) {
  const WarpLane lane = WarpLane::mine();
  const std::uint32_t ring = blockIdx.x / 2;
  const std::uint64_t begin = globaltimer_ns();
  const auto run = [&](auto mover) {
    for (std::uint32_t idle = 0;;) {
      idle = mover.step(lane) != 0 ? 0 : idle + 1;
      if (idle == 0) continue;
      __nanosleep(32);
      if (idle % 64 != 0) continue;  // reading the flag crosses the bus
      if (lane.shfl(load_relaxed(stop), 0) != 0 || lane.shfl(globaltimer_ns(), 0) - begin >= limit_ns) return;
    }
  };
  if (blockIdx.x % 2 == 0) {
    run(ReceiveMover<WarpLane>(rings[ring], stages[ring].in));
  } else {
    run(TransmitMover<WarpLane>(rings[ring], stages[ring].out));
  }
}

// The host's end. It puts the wire's frames into the stages of the rings that an 82599's RSS and filters would choose.
// It sends what comes back to the wire.
class ProcessorNic {
 public:
  static constexpr std::uint32_t kPlaces = 512;  // of each stage, which is the packet buffer
  static constexpr std::uint32_t kArrivals = 32;
  [[nodiscard]] static std::uint32_t blocks(std::uint32_t rings) { return 2 * rings; }

  // `rings` have the device's addresses, which are bus addresses too.
  ProcessorNic(const std::vector<Ring>& rings, nicmodel::Steering steering, nicmodel::Wire& wire,
               std::uint64_t limit_ns)
      : steering_(std::move(steering)), wire_(wire), limit_ns_(limit_ns), stop_(mapped_array<std::uint32_t>(1)) {
    const std::uint32_t stride = rings.front().settings.slot_bytes + kStagePiece;
    std::vector<Stages> stages;
    for (std::size_t i = 0; i < rings.size(); ++i) {
      stages.push_back({make_stage(stride), make_stage(stride)});
      writers_.emplace_back(stages.back().in);
      readers_.emplace_back(stages.back().out);
    }
    rings_ = to_device(rings);
    stages_ = to_device(stages);
  }
  ~ProcessorNic() { static_cast<void>(stop()); }
  ProcessorNic(const ProcessorNic&) = delete;
  ProcessorNic& operator=(const ProcessorNic&) = delete;

  // Starts the kernel beside those of the engines, which have started.
  void start() {
    processor_nic_kernel<<<blocks(count()), 32, 0, stream_>>>(rings_.get(), stages_.get(), stop_.get(), limit_ns_);
    must(cudaGetLastError(), "processor_nic_kernel");
    running_ = true;
  }
  Expected<void> stop() {
    if (!running_) return {};
    running_ = false;
    store_release(&stop_[0], 1U);
    const auto e = cudaStreamSynchronize(stream_);
    if (e != cudaSuccess) return fail("the NIC's kernel did not end: {}", cudaGetErrorString(e));
    return {};
  }

  // One round of the host's end. Returns the packets moved.
  std::uint32_t step(std::uint64_t now_ns) {
    nicmodel::WireFrame frames[kArrivals];
    const std::uint32_t n = wire_.arrive(frames, kArrivals, now_ns);
    for (std::uint32_t i = 0; i < n; ++i) {
      StageWriter& writer = writers_[steering_.steer(frames[i].octets, frames[i].bytes).ring];
      if (!writer.put(frames[i].octets, frames[i].bytes)) lost_.add(1);
    }
    if (n != 0) {
      for (StageWriter& writer : writers_) writer.publish();
    }
    std::uint32_t moved = n;
    for (StageReader& reader : readers_) moved += leave(reader, now_ns);
    return moved;
  }
  [[nodiscard]] std::uint64_t lost() const { return lost_.get(); }

 private:
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(writers_.size()); }

  Stage make_stage(std::uint32_t stride) {
    memory_.push_back(mapped_array<std::uint8_t>(Stage::needs(kPlaces, stride)));
    return Stage::lay_out(memory_.back().get(), kPlaces, stride);
  }
  template <class T>
  static DevicePointer<T> to_device(const std::vector<T>& all) {
    auto made = device_array<T>(all.size());
    must(cudaMemcpy(made.get(), all.data(), all.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    return made;
  }
  std::uint32_t leave(StageReader& reader, std::uint64_t now_ns) {
    const std::uint32_t n = std::min(reader.ready(), kArrivals);
    if (n == 0) return 0;
    nicmodel::WireFrame frames[kArrivals];
    for (std::uint32_t i = 0; i < n; ++i) frames[i].octets = reader.frame(i, frames[i].bytes);
    const std::uint32_t gone = wire_.leave(frames, n, now_ns);
    reader.take(gone);
    return gone;
  }

  nicmodel::Steering steering_;
  nicmodel::Wire& wire_;
  std::uint64_t limit_ns_;
  HostPointer<std::uint32_t> stop_;
  std::vector<HostPointer<std::uint8_t>> memory_;
  std::vector<StageWriter> writers_;
  std::vector<StageReader> readers_;
  DevicePointer<Ring> rings_;
  DevicePointer<Stages> stages_;
  Stream stream_;
  Counter lost_;
  bool running_ = false;
};

}  // namespace splitplane::gpu

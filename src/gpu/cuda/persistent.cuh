// The persistent kernels of a run as a Driver: receivers, senders and the housekeeper on three streams. They must be on
// the device together, because a sender waits for its receiver. The engines' counters and their stop flag are in the
// device's memory. The housekeeper copies them from and to host memory that is mapped into the device.
#pragma once

#include "bypass/driver.h"
#include "gpu/cuda/engine_kernels.cuh"
#include "gpu/cuda/gpu_functions.h"

namespace splitplane::gpu {

class Stream {
 public:
  Stream() { must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate"); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class Persistent final : public bypass::Driver {
 public:
  static constexpr std::uint64_t kDrainWithinNs = 1'000'000'000;

  // `rings` have the device's addresses, with counters and stop flag in memory that the host can read. `view` is the
  // same for the host. `limit_ns`: the kernels end after this time without a command.
  Persistent(const bypass::Scenario& scenario, const std::vector<Ring>& rings, const SharedView& view,
             std::uint64_t limit_ns)
      : functions_(scenario),
        sums_(view, scenario.rings),
        host_stop_(view.stop),
        limit_ns_(limit_ns),
        rings_(rings),
        host_{const_cast<std::uint32_t*>(rings.front().stop), rings.front().rx_counters, rings.front().tx_counters,
              rings.front().verdicts} {
    counters_ = device_array<std::uint8_t>(needs(rings.front().settings, scenario.rings).shared);
    engines_ = shared_view(counters_.get(), scenario.rings);
    for (std::size_t i = 0; i < rings_.size(); ++i) {
      rings_[i].rx_counters = engines_.rx + i;
      rings_[i].tx_counters = engines_.tx + i;
      rings_[i].verdicts = engines_.verdicts + i;
      rings_[i].stop = engines_.stop;
    }
    device_rings_ = device_array<Ring>(rings.size());
    must(cudaMemcpy(device_rings_.get(), rings_.data(), rings_.size() * sizeof(Ring), cudaMemcpyHostToDevice), "rings");
    store_relaxed(host_stop_, 0U);
    prepare_kernel<<<count(), 32, 0, receivers_>>>(device_rings_.get());
    must(cudaGetLastError(), "prepare_kernel");
    must(cudaStreamSynchronize(receivers_), "prepare_kernel");
  }
  ~Persistent() override { static_cast<void>(stop()); }

  // Checks that twice as many blocks as rings, plus one, fit on the device; `others` are blocks beside them.
  [[nodiscard]] Expected<void> check_room(std::uint32_t others) const {
    int device = 0, processors = 0, receivers = 0, senders = 0;
    must(cudaGetDevice(&device), "cudaGetDevice");
    must(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "processors");
    must(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&senders, sender_kernel, 32, 0), "occupancy");
    functions_.with([&](auto* first) {
      using Function = std::remove_pointer_t<decltype(first)>;
      must(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&receivers, receiver_kernel<Function>, 32, 0), "occupancy");
    });
    const auto room = static_cast<std::uint32_t>(processors * std::min(receivers, senders));
    const std::uint32_t blocks = 2 * count() + 1 + others;
    if (blocks <= room) return {};
    return fail("{} rings need {} blocks on the device at once; it has room for {}", count(), blocks, room);
  }

  // The housekeeper starts first: only it ends engines, so none may run without it. Started kernels are stopped even if
  // the next launch fails.
  void start() override {
    housekeeper_kernel<<<1, 32, 0, housekeeper_>>>(engines_, host_, {.rings = count(), .limit_ns = limit_ns_});
    must(cudaGetLastError(), "housekeeper_kernel");
    running_ = true;
    functions_.with([&](auto* first) { receiver_kernel<<<count(), 32, 0, receivers_>>>(device_rings_.get(), first); });
    must(cudaGetLastError(), "receiver_kernel");
    sender_kernel<<<count(), 32, 0, senders_>>>(device_rings_.get(), kDrainWithinNs);
    must(cudaGetLastError(), "sender_kernel");
  }
  Expected<void> stop() override {
    if (!running_) return {};
    running_ = false;
    store_release(host_stop_, 1U);
    for (const cudaStream_t stream : {cudaStream_t{receivers_}, cudaStream_t{senders_}, cudaStream_t{housekeeper_}}) {
      if (const auto e = cudaStreamSynchronize(stream); e != cudaSuccess) {
        return fail("the kernels did not end: {}", cudaGetErrorString(e));
      }
    }
    return {};
  }
  std::uint64_t dropped() override { return sums_.dropped(); }
  std::uint64_t doorbells() override { return sums_.doorbells(); }
  std::uint64_t packets() override { return sums_.packets(); }
  // As far as the counters tell.
  bool slots_are_sound() override { return sums_.all_came_back(); }

 private:
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(rings_.size()); }

  GpuFunctions functions_;
  bypass::EngineSums sums_;
  std::uint32_t* host_stop_;
  std::uint64_t limit_ns_;
  std::vector<Ring> rings_;
  SharedView host_, engines_;  // at the device's addresses
  DevicePointer<std::uint8_t> counters_;
  DevicePointer<Ring> device_rings_;
  Stream receivers_, senders_, housekeeper_;
  bool running_ = false;
};

}  // namespace splitplane::gpu

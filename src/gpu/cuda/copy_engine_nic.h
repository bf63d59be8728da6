// E1: a NIC whose DMA is the GPU's copy engine. Rings and slots are in the device's memory. Tails are in host memory
// mapped into the device, so a doorbell is a posted write over PCIe. A stream for each ring and direction keeps payload
// before DD. The copy engine reads host memory where a NIC would write, so its latency is not a NIC's. copy_nic.h has
// the logic and is tested with memcpy; this file makes the copies. It has not run on a GPU so far.
#pragma once

#include "bypass/copy_nic.h"
#include "gpu/cuda/persistent.cuh"

namespace splitplane::gpu {

class CudaCopier {
 public:
  CudaCopier(std::uint32_t batch, std::uint32_t slot_bytes)
      : mirror(mapped_array<Descriptor>(batch)),
        frames_(mapped_array<std::uint8_t>(std::size_t{batch} * slot_bytes)),
        stride_(slot_bytes) {
    must(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreate");
  }
  ~CudaCopier() { cudaEventDestroy(event_); }
  CudaCopier(const CudaCopier&) = delete;
  CudaCopier& operator=(const CudaCopier&) = delete;

  [[nodiscard]] std::uint8_t* frame(std::uint32_t i) const { return frames_.get() + std::size_t{i} * stride_; }
  void fetch(const Descriptor* from, std::uint32_t n) {
    must(cudaMemcpyAsync(mirror.get(), from, n * sizeof(Descriptor), cudaMemcpyDeviceToHost, stream_), "fetch");
    mark();
  }
  // The copies keep their place in the stream among other work (source access in stream order).
  void payload(void** to, const void** from, std::size_t* bytes, std::uint32_t n) {
    cudaMemcpyAttributes attributes{};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    std::size_t first = 0;
    must(cudaMemcpyBatchAsync(to, from, bytes, n, &attributes, &first, 1, stream_), "payload");
  }
  void write_back(Descriptor* to, std::uint32_t n) {
    must(cudaMemcpyAsync(to, mirror.get(), n * sizeof(Descriptor), cudaMemcpyHostToDevice, stream_), "write-back");
    mark();
  }
  [[nodiscard]] bool is_done() {
    const cudaError_t e = cudaEventQuery(event_);
    if (e != cudaErrorNotReady) must(e, "the copy engine");
    return e == cudaSuccess;
  }

  HostPointer<Descriptor> mirror;

 private:
  void mark() { must(cudaEventRecord(event_, stream_), "cudaEventRecord"); }

  HostPointer<std::uint8_t> frames_;
  std::uint32_t stride_;
  Stream stream_;
  cudaEvent_t event_ = nullptr;
};

using CopyEngineNic = bypass::CopyNic<CudaCopier>;

}  // namespace splitplane::gpu

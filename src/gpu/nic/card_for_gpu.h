// What a machine must have so that a GPU drives a real NIC whose rings are in the GPU's memory, condition by condition:
// docs/gpu.md says why each. From procfs, sysfs, /dev and what the GPU says of itself, so that it is judged without
// one. No machine with all of them was at hand: unverified.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gpu/nic/pci_device.h"
#include "gpu/nic/start_up_check.h"

namespace splitplane::gpu {

// What CUDA says of the device.
struct GpuFacts {
  std::uint32_t rdma_writes_ordering = 0;  // CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING
  bool dma_buf = false;                    // CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED
  bool kernel_time_limit = false;          // CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT
};

struct HostFacts {
  bool root = false;
  std::filesystem::path sys = "/sys", proc = "/proc", dev = "/dev";
};

// One note for each condition, in the order in which they are best mended: a refusal where it is missing, with what
// helps. `bytes`: of rings and slots, which the BAR of the GPU's memory must show to the NIC. `facts`: of this GPU, or
// why CUDA says none.
[[nodiscard]] std::vector<StartUpNote> check_card_for_gpu(const PciDevice& gpu, const Expected<GpuFacts>& facts,
                                                          std::size_t bytes, const HostFacts& host);
// The same for one card: whether it can be driven at all comes first, the way between the two last.
[[nodiscard]] std::vector<StartUpNote> check_gpu_and_card(const PciDevice& gpu, const PciDevice& card,
                                                          const Expected<GpuFacts>& facts, std::size_t bytes,
                                                          const HostFacts& host);

// GPU memory is mapped for others in pieces of this size (NVIDIA, GPUDirect RDMA: 64 KiB pages of BAR 1).
inline constexpr std::size_t kGpuPage = std::size_t{64} * 1024;
[[nodiscard]] constexpr std::size_t in_gpu_pages(std::size_t bytes) {
  return (bytes + kGpuPage - 1) / kGpuPage * kGpuPage;
}

}  // namespace splitplane::gpu

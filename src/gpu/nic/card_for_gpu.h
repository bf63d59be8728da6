// The conditions under which a GPU can drive a real NIC whose rings are in the GPU's memory; docs/design/gpu.md gives
// the reason of each. They are checked from procfs, sysfs, /dev and CUDA's facts, so the check needs no GPU. No machine
// that meets all of them was available, so this is unverified.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gpu/nic/pci_device.h"
#include "gpu/nic/start_up_check.h"

namespace splitplane::gpu {

// What CUDA reports of the device.
struct GpuFacts {
  std::uint32_t rdma_writes_ordering = 0;  // CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING
  bool dma_buf = false;                    // CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED
  bool kernel_time_limit = false;          // CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT
};

struct HostFacts {
  bool root = false;
  std::filesystem::path sys = "/sys", proc = "/proc", dev = "/dev";
};

// One note for each condition, in the order in which to repair them: a refusal if it is missing, with what helps.
// `bytes` is the size of rings and slots, which the BAR of the GPU's memory must show to the NIC. `facts` are those of
// this GPU, or why CUDA has none.
[[nodiscard]] std::vector<StartUpNote> check_card_for_gpu(const PciDevice& gpu, const Expected<GpuFacts>& facts,
                                                          std::size_t bytes, const HostFacts& host);
// The same for one NIC. Whether the NIC can be driven at all comes first; the path between NIC and GPU comes last.
[[nodiscard]] std::vector<StartUpNote> check_gpu_and_card(const PciDevice& gpu, const PciDevice& card,
                                                          const Expected<GpuFacts>& facts, std::size_t bytes,
                                                          const HostFacts& host);

// GPU memory is mapped for others in pieces of this size (NVIDIA, GPUDirect RDMA: 64 KiB pages of BAR 1).
inline constexpr std::size_t kGpuPage = std::size_t{64} * 1024;
[[nodiscard]] constexpr std::size_t in_gpu_pages(std::size_t bytes) {
  return (bytes + kGpuPage - 1) / kGpuPage * kGpuPage;
}

}  // namespace splitplane::gpu

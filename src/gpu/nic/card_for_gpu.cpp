#include "gpu/nic/card_for_gpu.h"

#include <fstream>
#include <iterator>

namespace splitplane::gpu {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The value of `NAME: value` in the driver's list of parameters; empty if there is no such line.
std::string parameter(const std::string& all, const std::string& name) {
  const auto at = all.find(name + ": ");
  if (at == std::string::npos) return {};
  const auto from = at + name.size() + 2;
  return all.substr(from, all.find('\n', from) - from);
}

class Conditions {
 public:
  // Adds a note: `met` says what is there; `missing` says what is not, and what helps.
  void judge(bool is_met, std::string met, std::string missing) {
    notes_.push_back({is_met ? Gravity::kNote : Gravity::kRefusal, is_met ? std::move(met) : std::move(missing)});
  }
  [[nodiscard]] std::vector<StartUpNote> take() { return std::move(notes_); }

 private:
  std::vector<StartUpNote> notes_;
};

std::string iommu_type(const PciDevice& gpu, const fs::path& sys) {
  if (!gpu.iommu_group()) return {};
  std::string type = text_of(sys / "kernel/iommu_groups" / std::to_string(*gpu.iommu_group()) / "type");
  type.erase(type.find_last_not_of('\n') + 1);
  return type.empty() ? "type unknown" : type;
}

}  // namespace

std::vector<StartUpNote> check_card_for_gpu(const PciDevice& gpu, const Expected<GpuFacts>& facts, std::size_t bytes,
                                            const HostFacts& host) {
  Conditions all;
  const std::string& at = gpu.address();
  all.judge(host.root, "root: the card's registers can be mapped for the GPU",
            "not root: mapping a card's registers for the GPU (cudaHostRegister of I/O memory) needs root");
  const std::string version = text_of(host.proc / "driver/nvidia/version");
  all.judge(version.find("Open Kernel Module") != std::string::npos, "the NVIDIA driver has its open kernel modules",
            version.empty() ? "no NVIDIA driver is loaded: /proc/driver/nvidia/version is not there"
                            : "the NVIDIA driver has its closed kernel modules, which export no dma-buf; install the "
                              "open ones (Turing and later)");
  const std::string words = parameter(text_of(host.proc / "driver/nvidia/params"), "RegistryDwords");
  all.judge(words.find("PeerMappingOverride=1") != std::string::npos, "PeerMappingOverride=1",
            "the NVIDIA driver maps no other device's registers for kernels: load it with "
            "NVreg_RegistryDwords=\"PeerMappingOverride=1;\"");
  all.judge(
      fs::exists(host.dev / "dmabuf_import"), "/dev/dmabuf_import takes the GPU's dma-bufs",
      "/dev/dmabuf_import is not there: a NIC's driver in user space gets the bus addresses of GPU memory from the "
      "kernel module dmabuf_import (uPCIe), which is no part of Linux");
  const std::string iommu = iommu_type(gpu, host.sys);
  all.judge(iommu.empty() || iommu == "identity",
            iommu.empty() ? fmt::format("{}: no IOMMU", at) : fmt::format("{}: the IOMMU passes addresses on", at),
            fmt::format("{}: IOMMU group {} ({}) translates addresses, and the GPU's exporter gives physical ones; "
                        "allowed: a kernel with iommu=pt or without an IOMMU",
                        at, gpu.iommu_group().value_or(0), iommu));
  // NVIDIA calls it BAR 1. Up to Ampere it is the PCI function's BAR 1; on Hopper BAR 0 has 64 bits, and it is BAR 2.
  const unsigned number = gpu.bar_behind(0);
  const auto aperture = gpu.bar_bytes(number);
  const std::size_t wanted = in_gpu_pages(bytes);
  all.judge(aperture && *aperture >= wanted, fmt::format("{}: BAR {} has {} octets", at, number, aperture.value_or(0)),
            aperture ? fmt::format(
                           "{}: BAR {} has {} octets, and rings and slots need {}: switch on \"above 4G decoding\" or "
                           "resizable BAR in the firmware, or take fewer --rings or --slots",
                           at, number, *aperture, wanted)
                     : aperture.error().message);
  if (!facts) {
    all.judge(false, {}, facts.error().message);
    return all.take();
  }
  all.judge(facts->dma_buf, "CUDA exports dma-bufs", "CUDA exports no dma-buf of this GPU's memory");
  all.judge(
      judge_ordering(facts->rdma_writes_ordering, false, false) == OrderingVerdict::kUse,
      fmt::format("the GPU takes writes of other devices in order (attribute {})", facts->rdma_writes_ordering),
      fmt::format("the GPU does not take writes of other devices in order (attribute {}): a descriptor may be seen "
                  "before its frame",
                  facts->rdma_writes_ordering));
  all.judge(!facts->kernel_time_limit, "kernels have no time limit",
            "kernels have a time limit, since a display is on this GPU: the engines would be ended; run without one");
  return all.take();
}

std::vector<StartUpNote> check_gpu_and_card(const PciDevice& gpu, const PciDevice& card,
                                            const Expected<GpuFacts>& facts, std::size_t bytes, const HostFacts& host) {
  auto notes = check_nic(card, BusAddresses::kPhysical, host.sys);
  for (auto& note : check_card_for_gpu(gpu, facts, bytes, host)) notes.push_back(std::move(note));
  for (auto& note : check_path(card, gpu, host.sys)) notes.push_back(std::move(note));
  return notes;
}

}  // namespace splitplane::gpu

#include "cli/gpu/card_check.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "bypass/cuda_program.h"
#include "gpu/rings/ring_memory.h"

namespace splitplane::app {
namespace {

namespace fs = std::filesystem;
using bypass::Json;

constexpr std::uint16_t kNvidia = 0x10de;

bool is_display(const fs::path& device) {
  std::ifstream file(device / "class");
  std::string line;
  std::getline(file, line);
  return line.starts_with("0x03");
}

bool is_at(const gpu::PciDevice& gpu, const Json& device) {
  return device.value("pci", std::string()) == gpu.address();
}

Expected<gpu::GpuFacts> facts_of(const gpu::PciDevice& gpu, const Expected<Json>& device) {
  if (!device) return tl::unexpected(device.error());
  if (!is_at(gpu, *device)) {
    return fail("{}: CUDA uses the GPU at {}; CUDA_VISIBLE_DEVICES chooses another", gpu.address(),
                device->value("pci", "an address that it does not say"));
  }
  return gpu::GpuFacts{.rdma_writes_ordering = device->value("rdma_writes_ordering", 0U),
                       .dma_buf = device->value("dma_buf", false),
                       .kernel_time_limit = device->value("kernel_time_limit", false)};
}

std::size_t bytes_of(const bypass::Scenario& scenario) {
  return gpu::needs(scenario.ring, scenario.rings).dma;
}

}  // namespace

std::vector<gpu::PciDevice> find_gpus() {
  std::vector<gpu::PciDevice> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/sys/bus/pci/devices", error)) {
    auto device = gpu::PciDevice::find(entry.path().filename().string());
    if (device && device->vendor() == kNvidia && is_display(entry.path())) found.push_back(*std::move(device));
  }
  return found;
}

std::vector<gpu::StartUpNote> check_gpu_for_card(const gpu::PciDevice& gpu, const Expected<Json>& device,
                                                 const bypass::Scenario& scenario) {
  return gpu::check_card_for_gpu(gpu, facts_of(gpu, device), bytes_of(scenario), {.root = ::geteuid() == 0});
}

std::string why_no_card_on_gpu(const gpu::PciDevice& card, const bypass::Scenario& scenario) {
  const auto gpus = find_gpus();
  if (gpus.empty()) return "no GPU of NVIDIA is on the PCI bus";
  const auto program = bypass::CudaProgram::start(bypass::cuda_program_path());
  const Expected<Json> device = program ? Expected<Json>((*program)->device()) : tl::unexpected(program.error());
  // The one that CUDA uses; the first of the bus where CUDA uses none of them.
  const auto used = std::ranges::find_if(gpus, [&](const auto& gpu) { return device && is_at(gpu, *device); });
  const gpu::PciDevice& gpu = used == gpus.end() ? gpus.front() : *used;
  for (const gpu::StartUpNote& note :
       gpu::check_gpu_and_card(gpu, card, facts_of(gpu, device), bytes_of(scenario), {.root = ::geteuid() == 0})) {
    if (note.gravity == gpu::Gravity::kRefusal) return note.sentence;
  }
  return "all that it needs is here, but no machine with a GPU and a card was at hand to try it on: this version "
         "drives cards by CPU threads only";
}

}  // namespace splitplane::app

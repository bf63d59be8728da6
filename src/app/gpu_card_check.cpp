#include "app/gpu_card_check.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "bypass/cuda_program.h"
#include "gpu/ring_memory.h"

namespace splitplane::app {
namespace {

namespace fs = std::filesystem;

constexpr std::uint16_t kNvidia = 0x10de;

bool is_display(const fs::path& device) {
  std::ifstream file(device / "class");
  std::string line;
  std::getline(file, line);
  return line.starts_with("0x03");
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

std::vector<gpu::StartUpNote> check_gpu_for_card(const gpu::PciDevice& gpu, const bypass::Json* device,
                                                 const bypass::Scenario& scenario) {
  std::optional<gpu::GpuFacts> facts;
  if (device != nullptr) {
    facts = {.rdma_writes_ordering = device->value("rdma_writes_ordering", 0U),
             .dma_buf = device->value("dma_buf", false),
             .kernel_time_limit = device->value("kernel_time_limit", false)};
  }
  const std::size_t bytes = gpu::needs(scenario.ring, scenario.rings).dma;
  return gpu::check_card_for_gpu(gpu, facts, bytes, {.root = ::geteuid() == 0});
}

std::string why_no_card_on_gpu(const gpu::PciDevice& card, const bypass::Scenario& scenario) {
  const auto gpus = find_gpus();
  if (gpus.empty()) return "no GPU of NVIDIA is on the PCI bus";
  const auto program = bypass::CudaProgram::start(bypass::cuda_program_path());
  if (!program) return program.error().message;
  auto notes = check_gpu_for_card(gpus.front(), &(*program)->device(), scenario);
  for (auto& note : gpu::check_path(card, gpus.front())) notes.push_back(std::move(note));
  for (const gpu::StartUpNote& note : notes) {
    if (note.gravity == gpu::Gravity::kRefusal) return note.sentence;
  }
  return "all that it needs is here, but no machine with a GPU and a card was at hand to try it on: this version "
         "drives "
         "cards by CPU threads only";
}

}  // namespace splitplane::app

#include "cli/gpu/info.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "bypass/cuda_program.h"
#include "cli/gpu/card_check.h"
#include "gpu/nic/start_up_check.h"
#include "gpu/rings/ring_memory.h"

namespace splitplane::app {
namespace {

namespace fs = std::filesystem;
using bypass::Json;
using gpu::PciDevice;

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

struct Devices {
  std::vector<PciDevice> nics, gpus;
};

Devices find_devices() {
  Devices found{.nics = {}, .gpus = find_gpus()};
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/sys/bus/pci/devices", error)) {
    auto device = PciDevice::find(entry.path().filename().string());
    if (!device) continue;
    if (gpu::is_82599(*device)) found.nics.push_back(*std::move(device));
  }
  return found;
}

Json to_json(const PciDevice& d) {
  Json json{{"address", d.address()},
            {"id", fmt::format("{:04x}:{:04x}", d.vendor(), d.device())},
            {"driver", d.driver().empty() ? "none" : d.driver()},
            {"numa_node", first_line(d.path() / "numa_node")}};
  json["iommu_group"] = d.iommu_group() ? Json(*d.iommu_group()) : Json("none");
  return json;
}

void add_notes(const std::vector<gpu::StartUpNote>& notes, Json& all) {
  constexpr std::array kWords{"note", "warning", "refusal"};
  for (const gpu::StartUpNote& note : notes) {
    all.push_back({{"gravity", kWords[static_cast<std::size_t>(note.gravity)]}, {"sentence", note.sentence}});
  }
}

std::string line(const Json& devices, const char* none) {
  std::string text;
  for (const Json& d : devices) {
    text += fmt::format("{}{} {} driver {}, IOMMU group {}, NUMA node {}", text.empty() ? "" : "; ",
                        d["address"].get<std::string>(), d["id"].get<std::string>(), d["driver"].get<std::string>(),
                        d["iommu_group"].dump(), d["numa_node"].get<std::string>());
  }
  return text.empty() ? none : text;
}

}  // namespace

int gpu_info(bool open_cards, CliOutput& output) {
  const auto program = bypass::CudaProgram::start(bypass::cuda_program_path());
  const Expected<Json> cuda = program ? Expected<Json>((*program)->device()) : tl::unexpected(program.error());
  const std::string driver = first_line("/proc/driver/nvidia/version");
  const Devices devices = find_devices();
  Json all{{"gpu", cuda ? *cuda : Json(cuda.error().message)},
           {"driver", driver.empty() ? "none: /proc/driver/nvidia is not there" : driver},
           {"gpus", Json::array()},
           {"nics", Json::array()},
           {"checks", Json::array()}};
  for (const PciDevice& d : devices.gpus) {
    all["gpus"].push_back(to_json(d));
    add_notes(check_gpu_for_card(d, cuda, {}), all["checks"]);
  }
  for (const PciDevice& nic : devices.nics) {
    all["nics"].push_back(to_json(nic));
    add_notes(gpu::check_nic(nic, gpu::BusAddresses::kPhysical), all["checks"]);
    for (const PciDevice& d : devices.gpus) add_notes(gpu::check_path(nic, d), all["checks"]);
    if (open_cards) add_notes(gpu::check_card(nic, gpu::needs({}, 1).dma), all["checks"]);
  }
  if (output.json) {
    output.out << all.dump(2) << '\n';
    return kExitGood;
  }
  output.out << fmt::format("GPU     {}\ndriver  {}\nPCI     {}\nNICs    {}\n",
                            cuda ? cuda->dump() : cuda.error().message, all["driver"].get<std::string>(),
                            line(all["gpus"], "no display controller of NVIDIA"),
                            line(all["nics"], "no 82599 or X520; the soft NIC is always there"));
  for (const Json& check : all["checks"]) {
    output.out << fmt::format("{:<7} {}\n", check["gravity"].get<std::string>(), check["sentence"].get<std::string>());
  }
  return kExitGood;
}

}  // namespace splitplane::app

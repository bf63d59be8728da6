#include "datapath/eal.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string_view>

namespace splitplane::datapath {
namespace {

bool hugetlbfs_is_mounted() {
  std::ifstream mounts("/proc/mounts");
  std::string device, place, type, rest;
  while (mounts >> device >> place >> type && std::getline(mounts, rest)) {
    if (type == "hugetlbfs") return true;
  }
  return false;
}

std::string cores_argument(const std::vector<unsigned>& cores) {
  std::string text = fmt::format("0@0-{}", sysconf(_SC_NPROCESSORS_ONLN) - 1);
  for (std::size_t i = 0; i < cores.size(); ++i) text += fmt::format(",{}@{}", i + 1, cores[i]);
  return text;
}

}  // namespace

std::size_t Eal::free_hugepage_megabytes() {
  if (!hugetlbfs_is_mounted()) return 0;
  std::size_t megabytes = 0;
  for (const auto& [folder, page] : {std::pair{"hugepages-2048kB", std::size_t{2}}, {"hugepages-1048576kB", 1024}}) {
    std::ifstream file(std::filesystem::path("/sys/kernel/mm/hugepages") / folder / "free_hugepages");
    std::size_t pages = 0;
    if (file >> pages) megabytes += pages * page;
  }
  return megabytes;
}

Expected<Eal> Eal::start(const EalSettings& settings) {
  std::vector<std::string> arguments{"splitplane",
                                     "--iova-mode=va",
                                     "--file-prefix=" + settings.file_prefix,
                                     "--lcores=" + cores_argument(settings.worker_cores),
                                     "--log-level=" + settings.log_level};
  arguments.push_back("-m");
  arguments.push_back(std::to_string(settings.megabytes));
  if (!settings.hugepages) arguments.push_back("--no-huge");
  if (settings.pci.empty()) arguments.push_back("--no-pci");
  for (const auto& address : settings.pci) arguments.push_back("--allow=" + address);

  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  if (rte_eal_init(static_cast<int>(argv.size()), argv.data()) < 0) {
    return fail("DPDK did not start ({}); file prefix '{}', {} MiB of {}", rte_strerror(rte_errno), settings.file_prefix,
                settings.megabytes, settings.hugepages ? "hugepages" : "ordinary memory");
  }
  return Eal{};
}

Eal::~Eal() {
  if (running_) rte_eal_cleanup();
}

}  // namespace splitplane::datapath

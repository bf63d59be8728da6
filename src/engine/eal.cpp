#include "engine/eal.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/log.h"
#include "engine/dpdk_log.h"

namespace splitplane::datapath {
namespace {

namespace fs = std::filesystem;

// Removes DPDK's memory files and runtime folder, which DPDK leaves for the next start. Only for a prefix that no live
// process holds.
void remove_files(const std::string& prefix, const fs::path& runtime) {
  std::error_code error;  // a file that cannot be removed stays, as DPDK would leave it
  for (const auto& folder : Eal::hugepage_folders()) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (entry.path().filename().string().starts_with(prefix + "map_")) found.push_back(entry.path());
    }
    for (const auto& file : found) fs::remove(file, error);
  }
  if (runtime.filename() == prefix) fs::remove_all(runtime, error);
}

// Where DPDK puts the files of a prefix, before it runs (DPDK programmer's guide, "Running multiple DPDK
// applications").
fs::path runtime_folder(const std::string& prefix) {
  fs::path base = "/var/run";
  if (::getuid() != 0) {
    const char* const own = std::getenv("XDG_RUNTIME_DIR");
    base = own != nullptr ? own : "/tmp";
  }
  return base / "dpdk" / prefix;
}

// Keeps the main thread and the control threads that it starts off the workers' cores, if there are other cores. So a
// request on the control socket costs no packet.
// `first`: the lcore of the main thread. Processes that share memory must not share lcores (caches of pools).
std::string cores_argument(const std::vector<unsigned>& cores, unsigned first) {
  std::vector<unsigned> rest, all;
  for (unsigned core = 0; core < static_cast<unsigned>(sysconf(_SC_NPROCESSORS_ONLN)); ++core) {
    all.push_back(core);
    if (std::find(cores.begin(), cores.end(), core) == cores.end()) rest.push_back(core);
  }
  std::string text = fmt::format("{}@({})", first, fmt::join(rest.empty() ? all : rest, ","));
  for (std::size_t i = 0; i < cores.size(); ++i) text += fmt::format(",{}@{}", first + i + 1, cores[i]);
  return text;
}

}  // namespace

std::vector<fs::path> Eal::hugepage_folders() {
  std::vector<fs::path> folders;
  std::ifstream mounts("/proc/mounts");
  std::string device, place, type, rest;
  while (mounts >> device >> place >> type && std::getline(mounts, rest)) {
    if (type == "hugetlbfs") folders.emplace_back(place);
  }
  return folders;
}

std::size_t Eal::free_hugepage_megabytes() {
  if (hugepage_folders().empty()) return 0;
  std::size_t megabytes = 0;
  for (const auto& [folder, page] : {std::pair{"hugepages-2048kB", std::size_t{2}}, {"hugepages-1048576kB", 1024}}) {
    std::ifstream file(std::filesystem::path("/sys/kernel/mm/hugepages") / folder / "free_hugepages");
    std::size_t pages = 0;
    if (file >> pages) megabytes += pages * page;
  }
  return megabytes;
}

Expected<Eal> Eal::start(const EalSettings& settings) {
  std::vector<std::string> arguments{
      "splitplane", "--iova-mode=va", "--file-prefix=" + settings.file_prefix,
      "--lcores=" + cores_argument(settings.worker_cores, settings.secondary ? Eal::kSecondaryLcore : 0),
      "--log-level=" + settings.log_level};
  if (settings.secondary) {
    arguments.insert(arguments.end(), {"--proc-type=secondary", "--no-telemetry"});
  } else {
    arguments.insert(arguments.end(), {"-m", std::to_string(settings.megabytes)});
  }
  if (!settings.hugepages) arguments.push_back("--no-huge");
  if (settings.few_files && settings.hugepages) arguments.push_back("--single-file-segments");
  if (settings.pci.empty()) arguments.push_back("--no-pci");
  if (settings.alone) arguments.insert(arguments.end(), {"--no-shconf", "--no-telemetry"});
  for (const auto& address : settings.pci) arguments.push_back("--allow=" + address);

  if (const fs::path folder = runtime_folder(settings.file_prefix); !settings.secondary) {
    if (rte_eal_primary_proc_alive((folder / "config").c_str()) != 0) {
      return fail("file prefix '{}' is in use by another DPDK process; allowed: one process a prefix",
                  settings.file_prefix);
    }
    // A process of the run before may still have these mapped (`splitplane baas`): ours are new ones.
    remove_files(settings.file_prefix, folder);
  }

  take_dpdk_log();
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  if (rte_eal_init(static_cast<int>(argv.size()), argv.data()) < 0) {
    const int why = rte_errno;
    if (!settings.secondary) remove_files(settings.file_prefix, rte_eal_get_runtime_dir());
    return fail("DPDK did not start ({}); file prefix '{}', {} MiB of {}",
                why == 0 ? "its own message is above" : rte_strerror(why), settings.file_prefix, settings.megabytes,
                settings.hugepages ? "hugepages" : "ordinary memory");
  }
  return Eal{settings.file_prefix, settings.secondary};
}

Eal::~Eal() {
  if (!running_) return;
  const fs::path runtime = rte_eal_get_runtime_dir();
  rte_eal_cleanup();
  say_dpdk_repeats(true);
  if (!secondary_) remove_files(prefix_, runtime);
}

}  // namespace splitplane::datapath

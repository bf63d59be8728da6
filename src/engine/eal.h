// DPDK's environment as an object. It is started once per process from plain settings and cleaned up at the end.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/expected.h"

namespace splitplane::datapath {

struct EalSettings {
  std::string file_prefix = "splitplane";
  std::size_t megabytes = 512;
  bool hugepages = true;               // false: ordinary memory; no secondary processes, slower address translation
  std::vector<unsigned> worker_cores;  // lcore 1..n run on these cores; lcore 0 is the control thread, on any core
  std::vector<std::string> pci;        // addresses to probe; none: --no-pci
  bool few_files = false;              // memory in few files, because virtio_user passes at most 8 to its peer
  bool secondary = false;              // joins the process that holds the prefix, and shares its memory
  bool alone = false;                  // no shared files, no telemetry: for a short look at packets by any user
  std::string log_level = "warning";
};

class Eal {
 public:
  // The main thread of a secondary process; its workers have the lcores behind it.
  static constexpr unsigned kSecondaryLcore = 64;
  // Returns an error of one sentence. DPDK's own messages go to standard error at `log_level`.
  static Expected<Eal> start(const EalSettings& settings);
  Eal(Eal&& other) noexcept
      : running_(std::exchange(other.running_, false)),
        prefix_(std::move(other.prefix_)),
        secondary_(other.secondary_) {}
  Eal& operator=(Eal&&) = delete;
  ~Eal();

  // Where hugetlbfs is mounted.
  [[nodiscard]] static std::vector<std::filesystem::path> hugepage_folders();
  // Free hugepages of 2 MiB or 1 GiB, in MiB, on a mounted hugetlbfs; 0 when there is none.
  [[nodiscard]] static std::size_t free_hugepage_megabytes();

 private:
  explicit Eal(std::string prefix, bool secondary) : prefix_(std::move(prefix)), secondary_(secondary) {}
  bool running_ = true;
  std::string prefix_;
  bool secondary_;
};

}  // namespace splitplane::datapath

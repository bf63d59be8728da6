#include "runtime/left_hugepages.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "control/socket.h"

namespace splitplane::app {

namespace fs = std::filesystem;

std::size_t free_left_hugepages(const fs::path& folder) {
  // DPDK holds this lock while it makes files, until each has a lock of its own.
  const Fd making(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (making.get() < 0 || ::flock(making.get(), LOCK_EX) != 0) return 0;
  std::error_code error;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename().string().find("map_") != std::string::npos) found.push_back(entry.path());
  }
  std::size_t octets = 0;
  for (const auto& path : found) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file.get() < 0 || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) continue;  // somebody's
    struct stat facts{};
    constexpr std::size_t kBlock = 512;  // the unit of st_blocks
    if (::fstat(file.get(), &facts) == 0 && ::unlink(path.c_str()) == 0)
      octets += kBlock * static_cast<std::size_t>(facts.st_blocks);
  }
  return octets;
}

}  // namespace splitplane::app

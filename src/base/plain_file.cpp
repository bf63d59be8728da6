#include "base/plain_file.h"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/text.h"

namespace splitplane {
namespace {

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "is a directory";
  if (S_ISFIFO(mode)) return "is a FIFO";
  if (S_ISSOCK(mode)) return "is a socket";
  return "is a device";
}

}  // namespace

std::optional<std::string> refuse_to_read(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return std::strerror(errno);
  if (!S_ISREG(info.st_mode)) return kind_of(info.st_mode);
  struct statfs system{};
  if (::statfs(path.c_str(), &system) == 0 && (system.f_type == PROC_SUPER_MAGIC || system.f_type == SYSFS_MAGIC))
    return "is the kernel's, in /proc or /sys";
  if (::access(path.c_str(), R_OK) != 0) return std::strerror(errno);
  return std::nullopt;
}

std::optional<std::string> refuse_result_path(const std::string& path) {
  if (path.empty()) return std::nullopt;
  const std::string directory = std::filesystem::path(path).parent_path().string();
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return fmt::format("{} is a directory; allowed: a file", app::printable(path, 120));
  if (::access(directory.empty() ? "." : directory.c_str(), W_OK | X_OK) == 0) return std::nullopt;
  return fmt::format("{}: {}; allowed: a file in a directory we may write", app::printable(path, 120),
                     std::strerror(errno));
}

}  // namespace splitplane

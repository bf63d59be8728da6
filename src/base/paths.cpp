#include "base/paths.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace splitplane::app {

std::string runtime_directory() {
  if (::geteuid() == 0) return "/run/splitplane";
  const char* xdg = std::getenv("XDG_RUNTIME_DIR");
  if (xdg != nullptr && xdg[0] == '/') return fmt::format("{}/splitplane", xdg);
  return fmt::format("/tmp/splitplane-{}", ::geteuid());
}

std::string control_path(const std::string& file_prefix) {
  return fmt::format("{}/{}.sock", runtime_directory(), file_prefix);
}

std::string state_directory() {
  const auto from = [](const char* variable) -> std::string {
    const char* value = std::getenv(variable);
    if (value == nullptr || value[0] != '/') return {};
    return std::string(value).substr(0, std::string(value).find(':'));  // systemd gives a list
  };
  if (const std::string given = from("STATE_DIRECTORY"); !given.empty()) return given;
  if (::geteuid() == 0) return "/var/lib/splitplane";
  if (const std::string state = from("XDG_STATE_HOME"); !state.empty()) return state + "/splitplane";
  if (const std::string home = from("HOME"); !home.empty()) return home + "/.local/state/splitplane";
  return runtime_directory();
}

std::string journal_path(const std::string& file_prefix) {
  return fmt::format("{}/{}.journal", state_directory(), file_prefix);
}

Expected<void> make_private_directory(const std::string& directory) {
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return fail("directory {} cannot be made: {}", directory, std::strerror(errno));
  }
  struct stat info{};
  if (::lstat(directory.c_str(), &info) != 0) return fail("directory {}: {}", directory, std::strerror(errno));
  if (!S_ISDIR(info.st_mode) || info.st_uid != ::geteuid()) return fail("{} is no directory of this user", directory);
  return {};
}

}  // namespace splitplane::app

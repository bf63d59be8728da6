#include "runtime/instance_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/open_file.h"

namespace splitplane::app {
namespace {

constexpr int kAttempts = 50;  // another instance may remove the file or directory between our steps

std::string lock_path(const std::string& file_prefix, const std::string& directory) {
  return fmt::format("{}/{}.lock", directory, file_prefix);
}

int read_pid(int fd) {
  char text[16] = {};
  const ssize_t n = ::pread(fd, text, sizeof text - 1, 0);
  int pid = 0;
  if (n > 0) std::from_chars(text, text + n, pid);
  return pid;
}

}  // namespace

Expected<InstanceLock> InstanceLock::acquire(const std::string& file_prefix, const std::string& directory) {
  const std::string path = lock_path(file_prefix, directory);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (auto made = make_private_directory(directory); !made) {
      if (attempt + 1 == kAttempts) return tl::unexpected(made.error());
      continue;
    }
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 && errno == ENOENT) continue;
    if (fd < 0) return fail("lock file {} cannot be opened: {}", path, std::strerror(errno));
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
      const int pid = read_pid(fd);
      ::close(fd);
      return fail("file_prefix '{}' is in use by another instance (process {})", file_prefix, pid);
    }
    if (!is_still_at(fd, path)) {  // its last owner has just removed it
      ::close(fd);
      continue;
    }
    const std::string pid = fmt::format("{}\n", ::getpid());
    if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
      const int error = errno;
      ::unlink(path.c_str());
      ::close(fd);
      return fail("lock file {} cannot be written: {}", path, std::strerror(error));
    }
    return InstanceLock(fd, path, directory);
  }
  return fail("lock file {} comes and goes: other instances start and stop all the time", path);
}

int InstanceLock::holder(const std::string& file_prefix, const std::string& directory) {
  const int fd = ::open(lock_path(file_prefix, directory).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return 0;
  const bool held = ::flock(fd, LOCK_SH | LOCK_NB) != 0;
  const int pid = held ? read_pid(fd) : 0;
  ::close(fd);
  return held && pid == 0 ? -1 : pid;
}

InstanceLock::InstanceLock(InstanceLock&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)), directory_(std::move(other.directory_)) {}

InstanceLock& InstanceLock::operator=(InstanceLock&& other) noexcept {
  if (this != &other) {
    release();
    fd_ = std::exchange(other.fd_, -1);
    path_ = std::move(other.path_);
    directory_ = std::move(other.directory_);
  }
  return *this;
}

InstanceLock::~InstanceLock() {
  release();
}

void InstanceLock::release() {
  if (fd_ < 0) return;
  ::unlink(path_.c_str());  // before the lock is released, so no process can have locked the removed file
  ::close(fd_);
  ::rmdir(directory_.c_str());  // only if it is empty
  fd_ = -1;
}

}  // namespace splitplane::app

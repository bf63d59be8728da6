#include "tap/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace splitplane::tap {
namespace {

constexpr std::size_t kMuch = std::size_t{256} << 10;  // octets that one write takes

// Traffic of users: not for everybody to read. An existing file is begun anew, but only a plain file.
Expected<int> open_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0640);
  if (descriptor < 0) return fail("{}: {}; allowed: a file in a folder that exists", path, std::strerror(errno));
  struct stat info{};
  const bool regular = ::fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode);
  // One tap writes a file, whatever path leads there: the lock goes with the descriptor.
  if (regular && ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(descriptor);
    return fail("{}: is being written by another tap; allowed: a file of its own", path);
  }
  if (!regular || ::ftruncate(descriptor, 0) != 0) {
    ::close(descriptor);
    return fail("{}: is no regular file; allowed: a file in a folder that exists", path);
  }
  return descriptor;
}

}  // namespace

std::string rotated_name(const std::string& path, unsigned number) {
  const std::filesystem::path at(path);
  return (at.parent_path() / fmt::format("{}.{}{}", at.stem().string(), number, at.extension().string())).string();
}

Expected<File> File::create(const std::string& path, Limits limits, Head head) {
  const auto descriptor = open_file(path);
  if (!descriptor) return tl::unexpected(descriptor.error());
  File file(path, limits, std::move(head), *descriptor);
  file.head_(file.blocks_);
  if (const auto written = file.flush(); !written) return tl::unexpected(written.error());
  return file;
}

File::File(File&& other) noexcept
    : path_(std::move(other.path_)),
      limits_(other.limits_),
      head_(std::move(other.head_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      blocks_(std::move(other.blocks_)),
      in_file_(other.in_file_),
      total_(other.total_) {}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Expected<void> File::flush() {
  std::size_t done = 0;
  while (done < blocks_.size()) {
    const ssize_t n = ::write(descriptor_, blocks_.data() + done, blocks_.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int why = n < 0 ? errno : ENOSPC;
      const std::size_t whole = pcapng::whole_blocks(blocks_, done);
      // The file ends with its last whole block: what is there stays readable.
      if (::ftruncate(descriptor_, static_cast<off_t>(in_file_ + whole)) != 0) return fail("{}: is damaged", path_);
      total_ += whole;
      in_file_ += whole;
      blocks_.clear();
      return fail("{}: {}", path_, std::strerror(why));
    }
    done += static_cast<std::size_t>(n);
  }
  in_file_ += done;
  total_ += done;
  blocks_.clear();
  return {};
}

Expected<void> File::make_room(std::size_t bytes) {
  const bool full = limits_.bytes != 0 && in_file_ + blocks_.size() + bytes > limits_.bytes;
  if (!full && blocks_.size() + bytes < kMuch) return {};
  if (auto written = flush(); !written) return written;
  return full ? rotate() : Expected<void>{};
}

Expected<void> File::rotate() {
  if (limits_.files <= 1) return fail("{}: has reached its limit of {} octets", path_, limits_.bytes);
  std::error_code error;
  namespace fs = std::filesystem;
  for (unsigned number = limits_.files - 1; number > 1; --number) {
    fs::rename(rotated_name(path_, number - 1), rotated_name(path_, number), error);  // the first times there are fewer
  }
  fs::rename(path_, rotated_name(path_, 1), error);
  if (error) return fail("{}: cannot be renamed: {}", path_, error.message());
  ::close(std::exchange(descriptor_, -1));
  auto next = open_file(path_);
  if (!next) return tl::unexpected(next.error());
  descriptor_ = *next;
  in_file_ = 0;
  head_(blocks_);
  return {};
}

}  // namespace splitplane::tap

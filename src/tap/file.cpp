#include "tap/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>

#include "base/open_file.h"

namespace splitplane::tap {
namespace {

constexpr std::size_t kMuch = std::size_t{256} << 10;  // octets after which the collected blocks are written
constexpr std::size_t kMostLocked = 64;                // how many older files of a rotation stay open

// Files that taps of this process write or will replace, by their folder's real path and their name.
class TakenNames {
 public:
  // Reserves all names. If one of them is reserved already, it returns false, reserves none, and sets `which`.
  bool take(const std::vector<std::string>& names, std::string& which) {
    const std::lock_guard guard(mutex_);
    for (const auto& name : names) {
      if (!taken_.contains(name)) continue;
      which = name;
      return false;
    }
    taken_.insert(names.begin(), names.end());
    return true;
  }
  void give_back(const std::vector<std::string>& names) {
    const std::lock_guard guard(mutex_);
    for (const auto& name : names) taken_.erase(name);
  }

 private:
  std::mutex mutex_;
  std::set<std::string> taken_;
};

TakenNames& taken_names() {
  static TakenNames names;
  return names;
}

std::vector<std::string> names_of(const std::string& path, unsigned files) {
  namespace fs = std::filesystem;
  const auto real = [](const fs::path& at) {
    std::error_code error;
    const fs::path folder = fs::canonical(at.has_parent_path() ? at.parent_path() : fs::path("."), error);
    return error ? at.string() : (folder / at.filename()).string();
  };
  std::vector<std::string> names{real(path)};
  for (unsigned number = 1; number < files; ++number) names.push_back(real(rotated_name(path, number)));
  return names;
}

enum class Existing { kBeginAnew, kLookOnly };

// Opens a file for a tap and locks it. An existing file must be empty or begin as pcapng, because other files are not
// ours to overwrite. Captures contain traffic of users, so only the owner may read them.
Expected<int> open_file(const std::string& path, Existing existing) {
  constexpr std::array<std::uint8_t, 4> kPcapng{0x0a, 0x0d, 0x0d, 0x0a};  // block type of a Section Header Block
  const int create = existing == Existing::kBeginAnew ? O_CREAT : 0;
  const int descriptor = ::open(path.c_str(), O_RDWR | create | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0640);
  if (descriptor < 0) {
    if (existing == Existing::kLookOnly && errno == ENOENT) return -1;
    return fail("{}: {}; allowed: a file in a folder that exists", path, std::strerror(errno));
  }
  const auto refused = [&](const char* why) {
    ::close(descriptor);
    return fail("{}: {}", path, why);
  };
  struct stat info{};
  if (::fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode))
    return refused("is no regular file; allowed: a file in a folder that exists");
  // One tap writes a file, whatever path leads there, because the lock belongs to the descriptor.
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return refused("belongs to another tap; allowed: a file of its own");
  std::array<std::uint8_t, kPcapng.size()> head{};
  const ssize_t octets = ::pread(descriptor, head.data(), head.size(), 0);
  if (octets != 0 && head != kPcapng)
    return refused("is there, and is no pcapng file; allowed: a new file, an empty one or an older capture");
  if (existing == Existing::kBeginAnew && ::ftruncate(descriptor, 0) != 0) return refused("cannot be begun anew");
  return descriptor;
}

}  // namespace

std::string rotated_name(const std::string& path, unsigned number) {
  const std::filesystem::path at(path);
  return (at.parent_path() / fmt::format("{}.{}{}", at.stem().string(), number, at.extension().string())).string();
}

Expected<File> File::create(const std::string& path, Limits limits, Head head) {
  File file(path, limits, std::move(head), -1);
  auto names = names_of(path, limits.files);
  if (std::string which; !taken_names().take(names, which))
    return fail("{}: belongs to another tap; allowed: a file of its own, also for its rotation", which);
  file.names_ = std::move(names);
  // Checks now the files that a rotation will replace, so that the user gets the error now.
  for (unsigned number = 1; number < limits.files; ++number) {
    const auto older = open_file(rotated_name(path, number), Existing::kLookOnly);
    if (!older) return tl::unexpected(older.error());
    if (*older >= 0) ::close(*older);
  }
  const auto descriptor = open_file(path, Existing::kBeginAnew);
  if (!descriptor) return tl::unexpected(descriptor.error());
  file.descriptor_ = *descriptor;
  file.head_(file.blocks_);
  if (const auto written = file.flush(); !written) return tl::unexpected(written.error());
  return file;
}

File::File(File&& other) noexcept
    : path_(std::move(other.path_)),
      limits_(other.limits_),
      head_(std::move(other.head_)),
      names_(std::exchange(other.names_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      older_(std::exchange(other.older_, {})),
      blocks_(std::move(other.blocks_)),
      in_file_(other.in_file_),
      total_(other.total_) {}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
  for (const int older : older_) ::close(older);
  taken_names().give_back(names_);
}

Expected<void> File::flush() {
  std::size_t done = 0;
  while (done < blocks_.size()) {
    const ssize_t n = ::write(descriptor_, blocks_.data() + done, blocks_.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int why = n < 0 ? errno : ENOSPC;
      const std::size_t whole = pcapng::whole_blocks(blocks_, done);
      // The file ends with its last whole block, so it stays readable.
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
  // Checks the files that have the rotation's names now: our own files, or files that another program has put there
  // since the tap began. The latter are checked as at the beginning.
  for (unsigned number = 1; number < limits_.files; ++number) {
    const std::string name = rotated_name(path_, number);
    if (number <= older_.size() && is_still_at(older_[number - 1], name)) continue;
    const auto there = open_file(name, Existing::kLookOnly);
    if (!there) return tl::unexpected(there.error());
    if (*there >= 0) ::close(*there);
  }
  if (older_.size() + 1 >= limits_.files && !older_.empty()) {  // this file leaves the rotation
    ::close(older_.back());
    older_.pop_back();
  }
  for (unsigned number = limits_.files - 1; number > 1; --number) {
    fs::rename(rotated_name(path_, number - 1), rotated_name(path_, number), error);  // early rotations have fewer
  }
  fs::rename(path_, rotated_name(path_, 1), error);
  if (error) return fail("{}: cannot be renamed: {}", path_, error.message());
  older_.insert(older_.begin(), std::exchange(descriptor_, -1));  // stays locked, so no other tap can take it
  if (older_.size() > kMostLocked) {
    ::close(older_.back());
    older_.pop_back();
  }
  auto next = open_file(path_, Existing::kBeginAnew);
  if (!next) return tl::unexpected(next.error());
  descriptor_ = *next;
  in_file_ = 0;
  head_(blocks_);
  return {};
}

}  // namespace splitplane::tap

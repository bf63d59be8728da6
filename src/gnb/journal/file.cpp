#include "gnb/journal/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

namespace splitplane::app {
namespace {

std::string directory_of(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

// Frames of a bounded length, cut between two records.
void add_frames(JournalOctets& to, const JournalRecords& records, std::uint64_t& sequence) {
  std::size_t from = 0, until = 0;
  const auto add = [&] {
    const auto frame = journal_frame(sequence++, std::span(records.octets).subspan(from, until - from));
    to.insert(to.end(), frame.begin(), frame.end());
    from = until;
  };
  for (const std::size_t end : records.ends) {
    if (end - from > kMaxFrameRecords) add();
    until = end;
  }
  if (until != from) add();
}

}  // namespace

tl::unexpected<Error> JournalFile::unable(const char* what, int error) const {
  return fail("journal {}: {}: {}", path_, what, std::strerror(error));
}

void JournalFile::close() {
  for (int* fd : {&fd_, &old_fd_}) {
    if (*fd >= 0) ::close(std::exchange(*fd, -1));
  }
}

Expected<void> JournalFile::make_directory() const {
  std::error_code error;
  std::filesystem::create_directories(directory_of(path_), error);
  if (error) {
    return fail("journal {}: its directory cannot be made: {}; allowed: a path that can be written, or journal: none",
                path_, error.message());
  }
  return {};
}

Expected<void> JournalFile::lock_old() {
  if (auto made = make_directory(); !made) return made;
  constexpr int kAttempts = 50;  // another process may put a new file there between our steps
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    old_fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (old_fd_ < 0 && errno == ENOENT) return {};
    if (old_fd_ < 0) return unable("cannot be opened", errno);
    struct stat ours{}, there{};
    if (::fstat(old_fd_, &ours) != 0) return unable("cannot be read", errno);
    if (!S_ISREG(ours.st_mode)) return fail("journal {}: is no file; allowed: another path", path_);
    if (::flock(old_fd_, LOCK_EX | LOCK_NB) != 0) return fail("journal {}: another process has it", path_);
    if (::stat(path_.c_str(), &there) == 0 && there.st_ino == ours.st_ino && there.st_dev == ours.st_dev) return {};
    ::close(std::exchange(old_fd_, -1));
  }
  return fail("journal {}: another process has it", path_);
}

Expected<void> JournalFile::forget() {
  return lock_old();
}

Expected<JournalContent> JournalFile::read() {
  if (auto locked = lock_old(); !locked) return tl::unexpected(locked.error());
  if (old_fd_ < 0) return JournalContent{};
  JournalOctets file;
  for (;;) {
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    const std::size_t had = file.size();
    file.resize(had + kPiece);
    const ssize_t n = ::read(old_fd_, file.data() + had, kPiece);
    if (n < 0 && errno == EINTR) {
      file.resize(had);
      continue;
    }
    if (n < 0) return unable("cannot be read", errno);
    file.resize(had + static_cast<std::size_t>(n));
    if (n == 0) break;
  }
  auto content = read_journal(file, owner_);
  if (!content) return fail("journal {}: {}", path_, content.error().message);
  return content;
}

Expected<void> JournalFile::write_all(int fd, const JournalOctets& octets) const {
  for (std::size_t done = 0; done < octets.size();) {
    const ssize_t n = ::write(fd, octets.data() + done, octets.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return unable("cannot be written", n == 0 ? ENOSPC : errno);
    done += static_cast<std::size_t>(n);
  }
  return {};
}

bool JournalFile::put_in_place(const std::string& fresh) const {
  const auto replace = [&] { return ::rename(fresh.c_str(), path_.c_str()) == 0; };
  if (fd_ >= 0 || old_fd_ >= 0) return replace();  // of the file that is there we hold the lock
  if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL) return false;
  // A file system without RENAME_NOREPLACE, such as NFS: a process that starts between these two calls is not seen.
  if (::access(path_.c_str(), F_OK) != 0) return replace();
  errno = EEXIST;
  return false;
}

Expected<void> JournalFile::rewrite(const JournalRecords& records) {
  const std::string fresh = path_ + ".new";
  const int fd = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return unable("cannot be written", errno);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    ::close(fd);
    return fail("journal {}: another process writes it", path_);
  }
  const auto give_up = [&](tl::unexpected<Error> error) {
    ::unlink(fresh.c_str());  // first, while the lock is ours
    ::close(fd);
    return error;
  };
  if (::ftruncate(fd, 0) != 0) return give_up(unable("cannot be written", errno));
  JournalOctets whole = journal_header(owner_);
  std::uint64_t frames = 0;
  add_frames(whole, records, frames);
  if (auto written = write_all(fd, whole); !written) return give_up(tl::unexpected(written.error()));
  if (::fsync(fd) != 0) return give_up(unable("cannot be written", errno));
  if (!put_in_place(fresh)) {
    if (errno == EEXIST) return give_up(fail("journal {}: another process has it", path_));
    return give_up(unable("cannot be put in its place", errno));
  }
  const int directory = ::open(directory_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  broken_ = directory < 0 || ::fsync(directory) != 0;  // then the old one may be there after a power cut
  const int error = errno;
  if (directory >= 0) ::close(directory);
  close();
  fd_ = fd;
  frames_ = frames;
  octets_ = whole.size();
  if (broken_) return unable("its directory cannot be written", error);
  return {};
}

Expected<void> JournalFile::append(const JournalRecords& records) {
  if (!is_open()) return fail("journal {}: is not open", path_);
  JournalOctets added;
  add_frames(added, records, frames_);
  broken_ = true;  // until it is on disk
  if (auto written = write_all(fd_, added); !written) return written;
  if (::fdatasync(fd_) != 0) return unable("cannot be written", errno);
  broken_ = false;
  octets_ += added.size();
  return {};
}

}  // namespace splitplane::app

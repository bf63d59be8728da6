// The journal on disk: read once, then written anew and added to, each time with the wait for the disk. Not for two
// threads at a time.
#pragma once

#include <string>
#include <utility>

#include "base/expected.h"
#include "gnb/journal/record.h"

namespace splitplane::app {

class JournalFile {
 public:
  JournalFile(std::string path, JournalOwner owner) : path_(std::move(path)), owner_(std::move(owner)) {}
  ~JournalFile() { close(); }
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;

  // What an earlier run left, or nothing if there is no file. Makes its directory where that is missing. Error: one
  // sentence with the path; another process has the file, or it cannot be read or trusted.
  [[nodiscard]] Expected<JournalContent> read();
  // As read(), of a file that shall be forgotten: only that no other process has it.
  [[nodiscard]] Expected<void> forget();

  // Another file in the place of this one, whole or not at all. Error: also where there was none, and another process
  // has put one there since.
  [[nodiscard]] Expected<void> rewrite(const JournalRecords& records);
  // On disk when it returns. After an error only rewrite() is allowed: what the disk has of it is unknown.
  [[nodiscard]] Expected<void> append(const JournalRecords& records);

  [[nodiscard]] bool is_open() const { return fd_ >= 0 && !broken_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::size_t octets() const { return octets_; }  // of the file

 private:
  [[nodiscard]] Expected<void> make_directory() const;
  [[nodiscard]] Expected<void> lock_old();
  [[nodiscard]] bool put_in_place(const std::string& fresh) const;  // false: errno says why
  [[nodiscard]] Expected<void> write_all(int fd, const JournalOctets& octets) const;
  [[nodiscard]] tl::unexpected<Error> unable(const char* what, int error) const;
  void close();

  std::string path_;
  JournalOwner owner_;
  int fd_ = -1;          // of the file that append() adds to
  int old_fd_ = -1;      // read() and forget(): held locked until the first rewrite()
  bool broken_ = false;  // append() failed
  std::uint64_t frames_ = 0;
  std::size_t octets_ = 0;
};

}  // namespace splitplane::app

// The file of a tap's blocks: one file, or a rotation of several, always of whole blocks. A full disk ends the writing
// and leaves a file that readers accept. It replaces only missing, empty and pcapng files, and never a file of another
// running tap.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/expected.h"
#include "tap/pcapng.h"

namespace splitplane::tap {

class File {
 public:
  struct Limits {
    std::uint64_t bytes = 0;  // of one file; 0: none
    unsigned files = 1;
  };
  // `head` writes the section and interface blocks that every file begins with.
  using Head = std::function<void(pcapng::Buffer&)>;

  static Expected<File> create(const std::string& path, Limits limits, Head head);
  File(File&& other) noexcept;
  File& operator=(File&&) = delete;
  ~File();

  // Blocks are collected here; flush() writes them.
  [[nodiscard]] pcapng::Buffer& blocks() { return blocks_; }
  // Call it before each packet block of `bytes`. It begins the next file if this one would exceed its limit, and writes
  // the collected blocks when they are many. The error is the sentence for the user; no block may follow.
  Expected<void> make_room(std::size_t bytes);
  Expected<void> flush();
  [[nodiscard]] std::uint64_t bytes_written() const { return total_; }

 private:
  File(std::string path, Limits limits, Head head, int descriptor)
      : path_(std::move(path)), limits_(limits), head_(std::move(head)), descriptor_(descriptor) {}
  Expected<void> rotate();

  std::string path_;
  Limits limits_;
  Head head_;
  std::vector<std::string> names_;  // of this file and its rotation, reserved against other taps of the process
  int descriptor_;
  std::vector<int> older_;  // of the rotation, newest first: open to keep their locks
  pcapng::Buffer blocks_;
  std::uint64_t in_file_ = 0, total_ = 0;
};

// out/n3.pcapng, 2 -> out/n3.2.pcapng: the name of an older file of a rotation; the newest of them is 1.
[[nodiscard]] std::string rotated_name(const std::string& path, unsigned number);

}  // namespace splitplane::tap

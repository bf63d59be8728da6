// Reads the first line of a file of sysfs, and writes one. A setting is one write, and errno is the kernel's refusal.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/expected.h"

namespace splitplane::governor {

// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }

  void close();
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

[[nodiscard]] std::optional<std::string> read_line(const std::string& path);
[[nodiscard]] std::optional<unsigned> read_number(const std::string& path);
// Error: "<path>: <the kernel's reason>".
[[nodiscard]] Expected<Descriptor> open_for_writing(const std::string& path);
[[nodiscard]] Expected<void> write_line(const std::string& path, std::string_view value);
// Writes through a descriptor. Returns false if the kernel refuses; see errno.
[[nodiscard]] bool write_line(const Descriptor& file, std::string_view value);

}  // namespace splitplane::governor

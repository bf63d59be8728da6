#include "power/governor/sysfs.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

namespace splitplane::governor {

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void Descriptor::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

std::optional<std::string> read_line(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return std::nullopt;
  std::array<char, 4096> page{};
  const ssize_t n = ::read(file.get(), page.data(), page.size());
  if (n < 0) return std::nullopt;
  std::string line(page.data(), static_cast<std::size_t>(n));
  line.resize(std::min(line.find('\n'), line.size()));
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::optional<unsigned> read_number(const std::string& path) {
  const auto line = read_line(path);
  unsigned number = 0;
  if (!line) return std::nullopt;
  const char* const end = line->data() + line->size();
  const auto read = std::from_chars(line->data(), end, number);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return number;
}

Expected<Descriptor> open_for_writing(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open()) return fail("{}: {}", path, std::strerror(errno));
  return file;
}

bool write_line(const Descriptor& file, std::string_view value) {
  std::array<char, 64> line{};
  if (value.size() >= line.size()) {
    errno = E2BIG;
    return false;
  }
  value.copy(line.data(), value.size());
  line[value.size()] = '\n';
  const ssize_t n = ::pwrite(file.get(), line.data(), value.size() + 1, 0);
  if (n >= 0 && static_cast<std::size_t>(n) != value.size() + 1) errno = EIO;
  return static_cast<std::size_t>(n) == value.size() + 1;
}

Expected<void> write_line(const std::string& path, std::string_view value) {
  const auto file = open_for_writing(path);
  if (!file) return tl::unexpected(file.error());
  if (!write_line(*file, value)) return fail("{}: '{}' is refused: {}", path, value, std::strerror(errno));
  return {};
}

}  // namespace splitplane::governor

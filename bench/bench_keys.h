// A key file for benches of secured bearers, whose keys are read while the object lives.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "secured/bearer_keys.h"

namespace splitplane::bench {

template <class T>
T value_of(Expected<T> got) {
  if (!got) throw std::runtime_error(got.error().message);
  return std::move(*got);
}

class BenchKeys {
 public:
  // Numbers 1 to `count`.
  explicit BenchKeys(std::uint32_t count) {
    char name[] = "/tmp/splitplane-bench-keys-XXXXXX";
    const int fd = ::mkstemp(name);
    if (fd < 0) throw std::runtime_error("no file for the keys");
    path_ = name;
    std::string text;
    for (std::uint32_t n = 1; n <= count; ++n)
      text += fmt::format("{} {:032x} {:032x}\n", n, n * 0x9e3779b97f4a7c15ULL, n * 0xc2b2ae3d27d4eb4fULL);
    const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::close(fd);
    if (!written) throw std::runtime_error("the keys were not written");
  }
  ~BenchKeys() { ::unlink(path_.c_str()); }
  BenchKeys(const BenchKeys&) = delete;
  BenchKeys& operator=(const BenchKeys&) = delete;
  [[nodiscard]] std::shared_ptr<datapath::BearerKeys> open() const {
    return value_of(datapath::BearerKeys::create(path_));
  }

 private:
  std::string path_;
};

}  // namespace splitplane::bench

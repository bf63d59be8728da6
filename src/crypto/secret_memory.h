// Memory for keys and for what is computed from them. It is not swapped out, is in no core dump, reads as zeros in a
// child after fork(), and is wiped before it goes back to the system.
#pragma once

#include <cstddef>

#include "base/expected.h"

namespace splitplane::crypto {

class SecretMemory {
 public:
  // What happens if the system does not lock the memory, because RLIMIT_MEMLOCK is too low: kPreferred warns once for
  // the whole program and goes on, kRequired fails.
  enum class Locking { kPreferred, kRequired };

  [[nodiscard]] static Expected<SecretMemory> map(std::size_t bytes, Locking locking);

  SecretMemory(SecretMemory&& other) noexcept;
  SecretMemory& operator=(SecretMemory&& other) noexcept;
  SecretMemory(const SecretMemory&) = delete;
  SecretMemory& operator=(const SecretMemory&) = delete;
  ~SecretMemory();

  [[nodiscard]] std::byte* data() const { return data_; }  // aligned to a page, or to 2 MiB if it is as large
  [[nodiscard]] std::size_t size() const { return bytes_; }
  [[nodiscard]] bool locked() const { return locked_; }

 private:
  SecretMemory(std::byte* data, std::size_t bytes) : data_(data), bytes_(bytes) {}

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  bool locked_ = false;
};

}  // namespace splitplane::crypto

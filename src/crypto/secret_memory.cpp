#include "crypto/secret_memory.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "base/log.h"

namespace splitplane::crypto {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::string reason() {
  return std::generic_category().message(errno);
}

// Maps `bytes` at a multiple of `alignment`, by mapping more and giving the ends back.
void* map_aligned(std::size_t bytes, std::size_t alignment, std::size_t page) {
  const std::size_t more = bytes + alignment - page;
  void* const whole = ::mmap(nullptr, more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (whole == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(whole);
  const std::size_t before = (alignment - reinterpret_cast<std::uintptr_t>(begin) % alignment) % alignment;
  if (before != 0) ::munmap(begin, before);
  if (more - before - bytes != 0) ::munmap(begin + before + bytes, more - before - bytes);
  return begin + before;
}

void warn_once(std::size_t bytes) {
  static std::atomic_flag warned;
  const std::string why = reason();
  if (warned.test_and_set()) return;
  log::warn(
      "keys may be swapped to disk, because the system did not lock {} KiB of memory ({}); CAP_IPC_LOCK or a higher "
      "`ulimit -l` helps",
      bytes / 1024, why);
}

}  // namespace

Expected<SecretMemory> SecretMemory::map(std::size_t bytes, Locking locking) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  bytes = (bytes + page - 1) / page * page;
  const bool large = bytes >= kHugePage;
  void* const data = map_aligned(bytes, large ? kHugePage : page, page);
  if (data == nullptr) return fail("the system has no {} KiB of memory for keys: {}", bytes / 1024, reason());
  SecretMemory memory(static_cast<std::byte*>(data), bytes);
  if (::madvise(data, bytes, MADV_DONTDUMP) != 0 || ::madvise(data, bytes, MADV_WIPEONFORK) != 0) {
    return fail("the system does not keep keys out of core dumps and child processes: {}", reason());
  }
  if (large) ::madvise(data, bytes, MADV_HUGEPAGE);  // fewer misses of the TLB; without it, all works
  memory.locked_ = ::mlock(data, bytes) == 0;
  if (!memory.locked_ && locking == Locking::kRequired) {
    return fail("the system did not lock {} KiB of memory for keys ({}); CAP_IPC_LOCK or a higher `ulimit -l` helps",
                bytes / 1024, reason());
  }
  if (!memory.locked_) warn_once(bytes);
  return memory;
}

SecretMemory::SecretMemory(SecretMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      locked_(std::exchange(other.locked_, false)) {}

SecretMemory& SecretMemory::operator=(SecretMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(locked_, other.locked_);
  return *this;
}

SecretMemory::~SecretMemory() {
  if (data_ == nullptr) return;
  ::explicit_bzero(data_, bytes_);
  ::munmap(data_, bytes_);
}

}  // namespace splitplane::crypto

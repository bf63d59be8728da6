#include "card/compiled/memory.h"

#include <rte_malloc.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace splitplane::nic {
namespace {

constexpr std::size_t kCacheLine = 64, kHugePage = std::size_t{1} << 21;

}  // namespace

void FreeMemory::operator()(std::uint8_t* memory) const {
  if (from_eal) {
    rte_free(memory);
  } else {
    std::free(memory);
  }
}

Memory take_memory(std::size_t bytes, int numa_node) {
  if (void* const memory = rte_zmalloc_socket("program", bytes, kCacheLine, numa_node)) {
    return {static_cast<std::uint8_t*>(memory), FreeMemory{.from_eal = true}};
  }
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : kCacheLine;
  bytes = (bytes + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, bytes);
  if (memory == nullptr) return {};
  if (alignment == kHugePage) (void)madvise(memory, bytes, MADV_HUGEPAGE);
  std::memset(memory, 0, bytes);
  return {static_cast<std::uint8_t*>(memory), FreeMemory{}};
}

}  // namespace splitplane::nic

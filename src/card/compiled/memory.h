// Memory of tables and registers: zeroed, in hugepages of the EAL if it has any left on the node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace splitplane::nic {

struct FreeMemory {
  bool from_eal = false;
  void operator()(std::uint8_t* memory) const;
};
using Memory = std::unique_ptr<std::uint8_t[], FreeMemory>;

// Empty if there is none.
[[nodiscard]] Memory take_memory(std::size_t bytes, int numa_node);

}  // namespace splitplane::nic

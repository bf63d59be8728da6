// Reads the configuration of `splitplane guard` from its file.
#pragma once

#include <string_view>
#include <vector>

#include "config/document.h"
#include "guard/config/config.h"
#include "runtime/config/check.h"

namespace splitplane::app {

// The keys of the file's top level.
[[nodiscard]] std::vector<std::string_view> guard_keys();
[[nodiscard]] MemoryNeeds memory_needs(const GuardConfig& config);
// Of one worker, in octets, beside DPDK's memory.
struct GuardTableBytes {
  std::size_t sources = 0, flows = 0;
};
[[nodiscard]] GuardTableBytes table_bytes(const GuardConfig& config);
// Reads, and checks by check.h.
[[nodiscard]] Expected<GuardConfig> read_guard(const Document& document);

}  // namespace splitplane::app

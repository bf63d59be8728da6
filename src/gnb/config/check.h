// The checks of a gNB's configuration as a whole: that its parts fit each other. Checks of N3, air and memory are here;
// each other section has a file.
#pragma once

#include <optional>

#include "config/finding.h"
#include "gnb/config/config.h"
#include "runtime/config/check.h"

namespace splitplane::app {

[[nodiscard]] MemoryNeeds memory_needs(const GnbConfig& config);
// Checks what the parts of a file say about each other: references, duplicates, queues, shards, cores, bearers.
[[nodiscard]] std::optional<Finding> check_gnb(const GnbConfig& config);

}  // namespace splitplane::app

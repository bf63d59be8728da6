// The checks of a configuration as a whole, made while it is loaded: that its parts fit each other. Checks of ports,
// N3, air and memory are here; each other section has its own.
#pragma once

#include <optional>

#include "config/config.h"
#include "config/finding.h"

namespace splitplane::app {

// Checks what the parts of a file say about each other: references, duplicates, queues, shards, cores, bearers.
[[nodiscard]] std::optional<Finding> check_references(const Config& config);
// Checks that memory.megabytes hold buffers and bearers: with hugepages, or on ordinary memory, which holds fewer
// buffers.
[[nodiscard]] std::optional<Finding> check_room(const Config& config, bool hugepages);

}  // namespace splitplane::app

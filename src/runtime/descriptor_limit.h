// How many files a process may have open. DPDK takes one for each hugepage, and calls abort() where it cannot make a
// thread's pipe, so that files would be left behind: it is asked before DPDK starts.
#pragma once

#include <cstddef>

#include "base/expected.h"
#include "config/config.h"

namespace splitplane::app {

// At most so many does a configuration need: DPDK's, its ports', and some clients of the control socket.
[[nodiscard]] std::size_t descriptors_for(const Config& config);

// Raises the soft limit to the hard one. Error if that is below `need`.
Expected<void> raise_descriptor_limit(std::size_t need);

}  // namespace splitplane::app

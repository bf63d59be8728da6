// How many files a process may have open. DPDK opens one for each hugepage, and calls abort() if it cannot make a
// thread's pipe. That would leave files behind, so the limit is checked before DPDK starts.
#pragma once

#include <cstddef>

#include "base/expected.h"
#include "runtime/config/config.h"

namespace splitplane::app {

// The most files that a configuration needs: for DPDK, its ports, its loops of packets and taps, and some clients of
// the control socket.
[[nodiscard]] std::size_t descriptors_for(const ProgramConfig& config, std::size_t loops, std::size_t taps);

// Raises the soft limit to the hard one. Returns an error if that is below `need`.
Expected<void> raise_descriptor_limit(std::size_t need);

}  // namespace splitplane::app

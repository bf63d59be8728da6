// How every bench on DPDK begins and ends: DPDK is started, the main thread stays on the core that is measured, and
// what goes wrong is one line and exit code 1.
#pragma once

#include <functional>
#include <string>

#include "engine/eal.h"

namespace splitplane::bench {

// Calls `measure` with whether it runs on hugepages: those of `settings`, where so many are free. Returns the exit code
// of the process; exceptions are faults. `bench` names it in messages.
[[nodiscard]] int on_core(const std::string& bench, unsigned core, datapath::EalSettings settings,
                          const std::function<void(bool hugepages)>& measure);

}  // namespace splitplane::bench

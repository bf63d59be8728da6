// The common frame of every bench on DPDK. It starts DPDK and keeps the main thread on the measured core. A failure is
// one line and exit code 1.
#pragma once

#include <functional>
#include <string>

#include "engine/eal.h"

namespace splitplane::bench {

// Calls `measure` with whether it runs on hugepages: those of `settings`, if enough are free. Returns the exit code of
// the process; exceptions are failures. `bench` names it in messages.
[[nodiscard]] int on_core(const std::string& bench, unsigned core, datapath::EalSettings settings,
                          const std::function<void(bool hugepages)>& measure);

}  // namespace splitplane::bench

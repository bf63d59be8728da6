// The keys that the files of several programs have, one row each.
#pragma once

#include <vector>

#include "fields/reference.h"
#include "runtime/config/config.h"

namespace splitplane::app {

// Beside the keys that every file has.
enum ProgramKeys : unsigned {
  kServed = 2,    // a program with a control socket
  kObserved = 4,  // a program that has metrics, and sets frequencies or looks at NUMA nodes
  kPorted = 8,    // a program of packets on DPDK ports
};

// The top level's.
[[nodiscard]] fields::Fields<ProgramConfig> program_fields(unsigned keys);
[[nodiscard]] fields::Fields<MetricsConfig> metrics_fields();
[[nodiscard]] fields::Fields<MemoryConfig> memory_fields();
[[nodiscard]] fields::Fields<PortConfig> port_fields();

// For config/schema.json and docs/reference/configuration.md. The keys of the top level are in a section `file`, which
// every machine adds to.
[[nodiscard]] std::vector<fields::Section> program_sections();

}  // namespace splitplane::app

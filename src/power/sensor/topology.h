// Which package a CPU of the kernel belongs to, and whether it is the second thread of a core.
#pragma once

#include <string>
#include <vector>

#include "base/expected.h"

namespace splitplane::sensor {

struct CpuPlace {
  unsigned cpu = 0, package = 0, core = 0;
  bool second_thread = false;  // a CPU of a lower number is on the same core
};

// Error: the file that cannot be read, or what it holds.
[[nodiscard]] Expected<CpuPlace> place_of(const std::string& root, unsigned cpu);
// All CPUs that are online, ascending.
[[nodiscard]] Expected<std::vector<CpuPlace>> read_topology(const std::string& root);
// "0-2,7": the CPUs of a list of the kernel.
[[nodiscard]] Expected<std::vector<unsigned>> cpus_in(const std::string& list);

}  // namespace splitplane::sensor

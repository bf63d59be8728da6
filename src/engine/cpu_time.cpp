#include "engine/cpu_time.h"

#include <rte_cycles.h>
#include <time.h>

namespace splitplane::datapath {

power::Ticks thread_cpu_time() {
  timespec used{};
  if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) != 0) return 0;
  const power::Ticks hz = rte_get_tsc_hz();
  return static_cast<power::Ticks>(used.tv_sec) * hz + static_cast<power::Ticks>(used.tv_nsec) * hz / 1'000'000'000;
}

}  // namespace splitplane::datapath

#include "guard/guard_time.h"

#include <rte_cycles.h>
#include <time.h>

namespace splitplane::guard {

GuardClock GuardClock::of_this_machine() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const std::uint64_t ms =
      static_cast<std::uint64_t>(now.tv_sec) * 1000 + static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
  return {rte_get_tsc_hz(), rte_rdtsc(), ms};
}

}  // namespace splitplane::guard

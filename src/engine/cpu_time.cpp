#include "engine/cpu_time.h"

#include <pthread.h>
#include <rte_cycles.h>

namespace splitplane::datapath {

power::Ticks thread_cpu_time() {
  return cpu_time(CLOCK_THREAD_CPUTIME_ID);
}

clockid_t thread_cpu_clock() {
  clockid_t clock{};
  return ::pthread_getcpuclockid(::pthread_self(), &clock) == 0 ? clock : CLOCK_THREAD_CPUTIME_ID;
}

power::Ticks cpu_time(clockid_t clock) {
  timespec used{};
  if (::clock_gettime(clock, &used) != 0) return 0;
  const power::Ticks hz = rte_get_tsc_hz();
  return static_cast<power::Ticks>(used.tv_sec) * hz + static_cast<power::Ticks>(used.tv_nsec) * hz / 1'000'000'000;
}

}  // namespace splitplane::datapath

// The CPU time of a thread, as the kernel counts it. It includes the kernel's work for the thread in system
// calls and interrupts. It does not include the thread's sleep.
#pragma once

#include <time.h>

#include "power/policy.h"

namespace splitplane::datapath {

// Ticks since the calling thread began; 0 if the kernel does not provide the time.
[[nodiscard]] power::Ticks thread_cpu_time();
// The clock by which others read the calling thread's time, as long as it lives.
[[nodiscard]] clockid_t thread_cpu_clock();
[[nodiscard]] power::Ticks cpu_time(clockid_t clock);

}  // namespace splitplane::datapath

// The CPU time of the calling thread, as the kernel counts it. It includes the kernel's work for the thread in system
// calls and interrupts. It does not include the thread's sleep.
#pragma once

#include "power/policy.h"

namespace splitplane::datapath {

// Ticks since the thread began; 0 if the kernel does not provide the time.
[[nodiscard]] power::Ticks thread_cpu_time();

}  // namespace splitplane::datapath

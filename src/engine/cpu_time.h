// The CPU time of the calling thread, as the kernel counts it: what it works for the thread in system calls and
// interrupts is among it, what it sleeps is not.
#pragma once

#include "power/policy.h"

namespace splitplane::datapath {

// Ticks since the thread began; 0: the kernel does not tell.
[[nodiscard]] power::Ticks thread_cpu_time();

}  // namespace splitplane::datapath

// Brings a cache line near. GCC takes a function that does no more than __builtin_prefetch() for one without effect,
// and leaves its calls out unless it has inlined them before. A volatile asm stays.
#pragma once

namespace splitplane::guard {

inline void prefetch_line(const void* at) {
#if defined(__x86_64__)
  asm volatile("prefetcht0 %0" : : "m"(*static_cast<const char*>(at)));
#else
  __builtin_prefetch(at);
#endif
}

}  // namespace splitplane::guard

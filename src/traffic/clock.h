// Time for the generator and the sink: CLOCK_MONOTONIC. Every process of a host reads the same value, so a sink in
// another process can subtract. Tests and the exact part of the self-test inject another clock.
#pragma once

#include <time.h>

#include <cstdint>

namespace splitplane::traffic {

struct MonotonicClock {
  [[nodiscard]] std::uint64_t operator()() const {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
  }
};

}  // namespace splitplane::traffic

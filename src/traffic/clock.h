// Time for the generator and the sink: CLOCK_MONOTONIC, which every process of a host reads alike, so that a sink in
// another process can subtract. Tests and the self-test's exact part inject a clock of their own.
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

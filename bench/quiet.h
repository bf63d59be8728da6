// Measures whether the machine is quiet enough for reliable figures, and the distance between two cores.
#pragma once

namespace splitplane::bench {

struct Jitter {
  double lost_percent = 0;  // of the time, in gaps over 2 us between two reads of the clock
  double worst_us = 0;      // the longest gap
};

// Reads the clock without a pause for `milliseconds` on this core.
[[nodiscard]] Jitter measure_jitter(unsigned milliseconds);

// Median of a cache line's round trip to `other_core`, in nanoseconds; negative without a second core.
[[nodiscard]] double measure_round_trip_ns(unsigned other_core);

}  // namespace splitplane::bench

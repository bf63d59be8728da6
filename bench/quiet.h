// Is the machine quiet enough to believe a figure? And how far apart are two cores today?
#pragma once

namespace splitplane::bench {

struct Jitter {
  double lost_percent = 0;  // of the time, in gaps over 2 us between two looks at the clock
  double worst_us = 0;      // the longest gap
};

// Looks at the clock without a pause for `milliseconds` on this core.
[[nodiscard]] Jitter measure_jitter(unsigned milliseconds);

// Median of a cache line's way to `other_core` and back, in nanoseconds; negative without a second core.
[[nodiscard]] double measure_round_trip_ns(unsigned other_core);

}  // namespace splitplane::bench

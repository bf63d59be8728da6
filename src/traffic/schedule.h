// When each packet should leave, in ns after the start: a pure sequence of times, so that a generator that falls behind
// still stamps what was intended (no coordinated omission).
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "base/random.h"

namespace splitplane::traffic {

struct Constant {
  friend bool operator==(const Constant&, const Constant&) = default;
};
struct Poisson {
  friend bool operator==(const Poisson&, const Poisson&) = default;
};
// `packets` at once, then nothing until their share of the rate is used up.
struct Bursts {
  std::uint32_t packets = 32;
  friend bool operator==(const Bursts&, const Bursts&) = default;
};
// From `rate` to `to_rate` evenly over `over_s` seconds, then on at `to_rate`.
struct Ramp {
  double to_rate = 0;
  double over_s = 1;
  friend bool operator==(const Ramp&, const Ramp&) = default;
};
// The recorded gaps of a capture, again and again; `speed` 2 plays it twice as fast. The rate is not used.
struct Recorded {
  std::vector<std::uint64_t> times_ns;  // ascending, from 0
  double speed = 1;
  friend bool operator==(const Recorded&, const Recorded&) = default;
};

using Arrivals = std::variant<Constant, Poisson, Bursts, Ramp, Recorded>;

class Schedule {
 public:
  // `rate`: packets a second, above 0.
  Schedule(Arrivals arrivals, double rate, std::uint64_t seed);

  // The next packet's time; never before the last one's.
  [[nodiscard]] std::uint64_t next();

 private:
  [[nodiscard]] double next_of(const Constant&) const { return static_cast<double>(n_) * gap_ns_; }
  [[nodiscard]] double next_of(const Poisson&);
  [[nodiscard]] double next_of(const Bursts& bursts) const;
  [[nodiscard]] double next_of(const Ramp& ramp) const;
  [[nodiscard]] double next_of(const Recorded& recorded) const;

  Arrivals arrivals_;
  double rate_, gap_ns_;
  Random random_;
  double at_ns_ = 0;
  std::uint64_t n_ = 0, last_ = 0;
};

}  // namespace splitplane::traffic

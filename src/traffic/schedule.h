// When each packet should leave, in ns after the start. It is a pure sequence of times. So a generator that falls
// behind still stamps the intended time (no coordinated omission).
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
// From `rate` to `to_rate` evenly over `over_s` seconds, then constantly `to_rate`.
struct Ramp {
  double to_rate = 0;
  double over_s = 1;
  friend bool operator==(const Ramp&, const Ramp&) = default;
};
// The recorded gaps of a capture in a loop; `speed` 2 plays it twice as fast. The rate is not used.
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

  // The next packet's time, which is never before the last one's.
  [[nodiscard]] std::uint64_t next();

  // Skips the packets that are due until `ns`, at most `most`, and returns their number. The time for that does not
  // grow with their number: for Poisson only the number is drawn, not each packet.
  std::uint64_t skip_until(std::uint64_t ns, std::uint64_t most);

 private:
  // The time of packet n, for kinds that are not random.
  [[nodiscard]] double time_of(const Constant&, std::uint64_t n) const { return static_cast<double>(n) * gap_ns_; }
  [[nodiscard]] double time_of(const Bursts& bursts, std::uint64_t n) const;
  [[nodiscard]] double time_of(const Ramp& ramp, std::uint64_t n) const;
  [[nodiscard]] double time_of(const Recorded& recorded, std::uint64_t n) const;
  template <class Kind>
  [[nodiscard]] double next_of(const Kind& arrivals) const {
    return time_of(arrivals, n_);
  }
  [[nodiscard]] double next_of(const Poisson&);
  template <class Kind>
  [[nodiscard]] std::uint64_t due_until(const Kind& arrivals, double end, std::uint64_t most) const;
  [[nodiscard]] std::uint64_t due_until(const Poisson&, double end, std::uint64_t most);

  Arrivals arrivals_;
  double rate_, gap_ns_;
  Random random_;
  double at_ns_ = 0;
  std::uint64_t n_ = 0, last_ = 0;
};

}  // namespace splitplane::traffic

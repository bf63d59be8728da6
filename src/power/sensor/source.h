// Something that measures power: what it reads, of what, and why it cannot. A source that fails says so; none stands in
// for another.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/expected.h"

namespace splitplane::sensor {

// One value of a source. `scope` says what the watts are of.
struct Reading {
  std::string scope;                                        // system, package, core, memory, uncore
  std::string name;                                         // "package-0", "meter 1"
  double watts = std::numeric_limits<double>::quiet_NaN();  // NaN: a counter of energy that was read once only
};

class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  [[nodiscard]] virtual std::string name() const = 0;
  // `now_ns`: of a clock that does not jump. Counters of energy give the mean since the call before. Error: one
  // sentence with the file or the command, and the reason.
  [[nodiscard]] virtual Expected<std::vector<Reading>> sample(std::uint64_t now_ns) = 0;
};

}  // namespace splitplane::sensor

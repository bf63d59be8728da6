// Power from a counter of microjoules that wraps. A counter must be read more than once while it goes round: at 200 W
// one of 262 kJ, as of RAPL, does so in 22 minutes.
#pragma once

#include <cstdint>
#include <optional>

namespace splitplane::sensor {

class EnergyCounter {
 public:
  // `range_uj`: the highest value, behind which the counter begins at 0 again; 0: it has 64 bits and never does.
  explicit EnergyCounter(std::uint64_t range_uj) : range_uj_(range_uj) {}

  // The mean watts since the reading before. NaN: the first reading; a value above the range; no time went by; or a
  // counter without a range that fell, so that it was reset.
  [[nodiscard]] double watts(std::uint64_t uj, std::uint64_t now_ns);

 private:
  struct Last {
    std::uint64_t uj, ns;
  };
  std::uint64_t range_uj_;
  std::optional<Last> last_;
};

}  // namespace splitplane::sensor

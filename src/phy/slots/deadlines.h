// How blocks keep their deadlines. The PHY takes a block within a window that ends at the block's deadline, as nFAPI's
// timing window does: before the window it is early, after the deadline late. A late one cannot be sent any more.
#pragma once

#include <array>

#include "base/histogram.h"
#include "base/outcome_list.h"
#include "phy/slots/slot_clock.h"

namespace splitplane::phy {

#define SPLITPLANE_TIMINGS(X)                               \
  X(early, "before the window that ends at its deadline")   \
  X(on_time, "within the window, at its very end included") \
  X(late, "after its deadline")

SPLITPLANE_OUTCOMES(Timing, SPLITPLANE_TIMINGS)

class Deadlines {
 public:
  // `window`: how long before the deadline a block is on time.
  explicit Deadlines(Ns window) : window_(window) {}

  Timing record(Ns deadline, Ns done) {
    if (done > deadline) {
      lateness_.record(done - deadline);
      return count(Timing::late);
    }
    lead_.record(deadline - done);
    return count(deadline - done > window_ ? Timing::early : Timing::on_time);
  }

  [[nodiscard]] std::uint64_t counted(Timing timing) const { return counts_[static_cast<std::size_t>(timing)]; }
  // By how many nanoseconds blocks that were not late were ready before their deadline, ...
  [[nodiscard]] const Histogram& lead() const { return lead_; }
  // ... and late ones after it.
  [[nodiscard]] const Histogram& lateness() const { return lateness_; }

 private:
  Timing count(Timing timing) {
    ++counts_[static_cast<std::size_t>(timing)];
    return timing;
  }

  Ns window_;
  std::array<std::uint64_t, kTimingCount> counts_{};
  Histogram lead_, lateness_;
};

}  // namespace splitplane::phy

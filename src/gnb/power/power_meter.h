// What the section `power` asks of a gNB: a meter that looks at its loops, and the uncore of their packages held at a
// frequency.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "gnb/config/config.h"
#include "power/governor/uncore.h"
#include "power/meter/meter.h"

namespace splitplane::gnb {

class PowerMeter {
 public:
  explicit PowerMeter(const app::GnbConfig& config) : config_(config) {}

  // Once the loops run; without the section it does nothing. `look`: at the time of each, until stop() returns. Error:
  // what was chosen cannot be read or held, and why.
  [[nodiscard]] Expected<void> start(app::Meter::Look look);
  // Gives back what it holds.
  void stop();
  // Nothing: the section asks neither for a sensor nor for a profile.
  [[nodiscard]] std::optional<app::MeterView> view() const;

 private:
  [[nodiscard]] Expected<void> hold_uncore(unsigned mhz);

  const app::GnbConfig& config_;
  std::vector<governor::Uncore> uncore_;
  std::unique_ptr<app::Meter> meter_;
};

}  // namespace splitplane::gnb

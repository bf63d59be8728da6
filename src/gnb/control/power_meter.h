// What the section `power` asks of a gNB: a meter that looks at its workers, and the uncore of their packages held at a
// frequency.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "gnb/control/workers.h"
#include "power/governor/uncore.h"
#include "power/meter/meter.h"

namespace splitplane::gnb {

class PowerMeter {
 public:
  PowerMeter(const GnbConfig& config, const Workers& workers) : config_(config), workers_(workers) {}

  // Once the workers run; without the section it does nothing. Error: what was chosen cannot be read or held, and why.
  [[nodiscard]] Expected<void> start();
  // Gives back what it holds.
  void stop();
  // Nothing: the section asks neither for a sensor nor for a profile.
  [[nodiscard]] std::optional<MeterView> view() const;

 private:
  [[nodiscard]] Expected<void> hold_uncore(unsigned mhz);
  [[nodiscard]] std::vector<LoopTime> look() const;

  const GnbConfig& config_;
  const Workers& workers_;
  std::vector<governor::Uncore> uncore_;
  std::unique_ptr<Meter> meter_;
};

}  // namespace splitplane::gnb

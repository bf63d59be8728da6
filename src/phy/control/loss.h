// The method air.set of `splitplane phy`: what its air loses, with the keys of the section `phy`.
#pragma once

#include <array>
#include <functional>
#include <optional>

#include "control/registry.h"
#include "phy/emulator/air_loss.h"

namespace splitplane::app {

// What a request changes; the rest stays.
struct LossPatch {
  using Values = std::array<std::optional<double>, phy::kBlockLosses.size()>;
  Values downlink, uplink;
  std::optional<double> dci_loss_percent;

  [[nodiscard]] phy::AirLoss applied_to(phy::AirLoss loss) const;
};

// `set` returns what is in force then, in full.
[[nodiscard]] MethodRegistry::Handler loss_set(std::function<Expected<Json>(const LossPatch& patch)> set);
[[nodiscard]] Json json_of(const phy::AirLoss& loss);

}  // namespace splitplane::app

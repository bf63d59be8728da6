// The air of a UE side for its command: its two links, changes of what they do, and what they counted.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "control/registry.h"
#include "phy/air_link.h"
#include "phy/channel/impairment.h"
#include "ue/config/config.h"
#include "ue/ue_report.h"

namespace splitplane::app {

// What a request changes of what the air does, by row of phy::kImpairments; the others stay.
struct AirPatch {
  using Values = std::array<std::optional<double>, phy::kImpairments.size()>;
  Values downlink, uplink;
};

struct UeAir {
  std::unique_ptr<phy::AirLink> downlink, uplink;  // none without ue.air
};

[[nodiscard]] UeAir make_air(const UeConfig& config, rte_mempool* pool);
// Both directions or none, on the worker's thread; what is in force then.
[[nodiscard]] Expected<Json> set_air(const AirPatch& patch, ue::UeWorker& worker);
// The method air.set of the control protocol, with the keys of ue.air in the configuration. `set` returns what is in
// force then, in full.
[[nodiscard]] MethodRegistry::Handler air_set(std::function<Expected<Json>(const AirPatch& patch)> set);
[[nodiscard]] Json json_of(const ue::AirReport& report);
// For people, of what json_of made.
[[nodiscard]] std::string air_text(const char* direction, const Json& report);

}  // namespace splitplane::app

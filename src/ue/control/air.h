// The air of a UE side for its command: its two links, changes of what they do, and what they counted.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "config/config.h"
#include "control/methods/backend.h"
#include "control/params.h"
#include "phy/air_link.h"
#include "ue/ue_report.h"

namespace splitplane::app {

struct UeAir {
  std::unique_ptr<phy::AirLink> downlink, uplink;  // none without ue.air
};

[[nodiscard]] UeAir make_air(const Config& config, rte_mempool* pool);
// Both directions or none, on the worker's thread; what is in force then.
[[nodiscard]] Expected<Json> set_air(const AirPatch& patch, ue::UeWorker& worker);
[[nodiscard]] Json json_of(const ue::AirReport& report);
// For people, of what json_of made.
[[nodiscard]] std::string air_text(const char* direction, const Json& report);

}  // namespace splitplane::app

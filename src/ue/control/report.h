// The reply of a UE side to `stats`, made of its report.
#pragma once

#include <string>

#include "control/params.h"
#include "engine/port.h"
#include "ue/ue_report.h"

namespace splitplane::app {

struct UeNames {
  const std::string& port;  // the air port
  unsigned core = 0;        // the worker's
};
[[nodiscard]] Json json_of(const ue::DirectionReport& report);
// Drops of both directions, by reason.
[[nodiscard]] Json drops_of(const ue::DirectionReport& downlink, const ue::DirectionReport& uplink);
// `port`: the counters of the air port.
[[nodiscard]] Json stats_json(const ue::UeReport& report, const datapath::PortCounters& port, const UeNames& names);

}  // namespace splitplane::app

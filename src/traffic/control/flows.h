// The flows of `splitplane gen`: from the list in its configuration, from the gNB's control socket, or both.
#pragma once

#include <vector>

#include "base/expected.h"
#include "traffic/config/config.h"
#include "traffic/packet_maker.h"

namespace splitplane::app {

// Error: one sentence. Uplink flows learned from the gNB go on numbering where its bearers stand.
[[nodiscard]] Expected<std::vector<traffic::FlowSpec>> make_flows(const GenConfig& gen);

}  // namespace splitplane::app

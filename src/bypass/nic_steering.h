// The ring that an 82599 would choose for each frame of a scenario, for the emulated NICs. The model's registers
// compute it, with RSS and filters as the control plane sets them.
#pragma once

#include <vector>

#include "bypass/scenario.h"
#include "gpu/nic/nic_82599.h"
#include "nicmodel/steering.h"

namespace splitplane::bypass {

// The control plane's settings for a scenario's NIC.
[[nodiscard]] gpu::NicSettings nic_settings(const Scenario& scenario, std::vector<gpu::FlowFilter> filters);

// Brings a model up with unused rings, and returns its steering. The error is one sentence.
[[nodiscard]] Expected<nicmodel::Steering> steering_of(const Scenario& scenario, std::vector<gpu::FlowFilter> filters);

}  // namespace splitplane::bypass

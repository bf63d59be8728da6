// Where an 82599 would put each frame of a scenario, for NICs that are none: RSS and filters as the control plane sets
// them, by the model's registers.
#pragma once

#include <vector>

#include "bypass/scenario.h"
#include "gpu/nic/nic_82599.h"
#include "nicmodel/steering.h"

namespace splitplane::bypass {

// What the control plane is told of a scenario's NIC.
[[nodiscard]] gpu::NicSettings nic_settings(const Scenario& scenario, std::vector<gpu::FlowFilter> filters);

// Brings a model up, with rings that nothing uses, and takes its steering. Error: one sentence.
[[nodiscard]] Expected<nicmodel::Steering> steering_of(const Scenario& scenario, std::vector<gpu::FlowFilter> filters);

}  // namespace splitplane::bypass

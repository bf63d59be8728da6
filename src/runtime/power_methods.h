// The methods power.show and power.set of the control protocol, made of what a program does with its loops' policies.
#pragma once

#include <functional>
#include <string>

#include "control/registry.h"
#include "power/settings.h"

namespace splitplane::app {

// A row for each worker: settings, state, where its time went.
[[nodiscard]] MethodRegistry::Handler power_show(std::function<Expected<Json>()> show);

// The worker begins anew with this policy, between two rounds. The params are the keys of a worker's policy in the
// configuration.
using SetPower = std::function<Expected<Json>(const std::string& worker, const power::Settings& settings)>;
[[nodiscard]] MethodRegistry::Handler power_set(SetPower set);

}  // namespace splitplane::app

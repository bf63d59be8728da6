// The methods power.show and power.set of the control protocol, made of what a program does with its loops' policies.
#pragma once

#include <functional>
#include <string>

#include "control/registry.h"
#include "power/settings.h"

namespace splitplane::app {

// A row for each worker: settings, state, where its time went. `meter`: what measures and models the machine's power,
// or null; empty: this program has none.
[[nodiscard]] MethodRegistry::Handler power_show(std::function<Expected<Json>()> show,
                                                 std::function<Json()> meter = {});

// The worker begins anew with this policy, between two rounds. The params are the keys of a worker's policy in the
// configuration.
using SetPower = std::function<Expected<Json>(const std::string& worker, const power::Settings& settings)>;
[[nodiscard]] MethodRegistry::Handler power_set(SetPower set);

}  // namespace splitplane::app

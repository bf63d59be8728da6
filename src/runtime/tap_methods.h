// The methods tap.on and tap.off of the control protocol, made of what a program does with its taps.
#pragma once

#include <functional>
#include <string>

#include "control/registry.h"
#include "tap/settings.h"

namespace splitplane::app {

// On with the same settings, or off, twice is no error. Each answers with the tap, or whether there was one.
[[nodiscard]] MethodRegistry::Handler tap_on(std::function<Expected<Json>(const tap::Settings& settings)> start);
[[nodiscard]] MethodRegistry::Handler tap_off(std::function<Expected<Json>(const std::string& name)> end);
// A tap as the protocol shows it.
[[nodiscard]] Json to_json(const tap::Settings& tap);

}  // namespace splitplane::app

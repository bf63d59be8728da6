// Taps in the configuration and in control requests: the same keys, the same checks.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/finding.h"
#include "config/yaml/yaml_value.h"
#include "control/params.h"

namespace splitplane::app {

// The section `taps`. Throws Refusal.
[[nodiscard]] std::vector<tap::Settings> read_taps(const YamlValue& value);
// The members of a request; its fault says what was wrong.
[[nodiscard]] tap::Settings read_tap(Params& params);
[[nodiscard]] Json to_json(const tap::Settings& settings);

// What is left out gets the value that stands for it: name, snap.
void complete(tap::Settings& settings, const Config& config);
// Key and fault of the first wrong tap.
[[nodiscard]] std::optional<Finding> check_taps(const Config& config);
// Key and fault of a tap that does not fit the rest of the configuration.
[[nodiscard]] std::optional<Finding> check_tap(const Config& config, const tap::Settings& settings);
// As above, beside the `others` that there are: names, files, how many and their memory. The settings are complete.
[[nodiscard]] std::optional<Finding> check_next_tap(const Config& config, std::span<const tap::Settings> others,
                                                    const tap::Settings& settings);
inline constexpr std::size_t kMostTaps = 16;  // each has a thread, and the worker copies for each
// Whether `worker` receives from or sends to `port`.
[[nodiscard]] bool uses_port(const WorkerConfig& worker, const std::string& port);

}  // namespace splitplane::app

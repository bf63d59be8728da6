// Checks of taps, in a file and in control requests.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/finding.h"
#include "gnb/config/config.h"

namespace splitplane::app {

// What is left out gets the value that stands for it: name, snap.
void complete(tap::Settings& settings, const GnbConfig& config);
// Key and fault of the first wrong tap.
[[nodiscard]] std::optional<Finding> check_taps(const GnbConfig& config);
// Key and fault of a tap that does not fit the rest of the configuration.
[[nodiscard]] std::optional<Finding> check_tap(const GnbConfig& config, const tap::Settings& settings);
// As above, beside the `others` that there are: names, files, how many and their memory. The settings are complete.
[[nodiscard]] std::optional<Finding> check_next_tap(const GnbConfig& config, std::span<const tap::Settings> others,
                                                    const tap::Settings& settings);
inline constexpr std::size_t kMostTaps = 16;  // each has a thread, and the worker copies for each
// Whether `worker` receives from or sends to `port`.
[[nodiscard]] bool uses_port(const WorkerConfig& worker, const std::string& port);

}  // namespace splitplane::app

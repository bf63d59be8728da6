// `splitplane gen` and `splitplane sink`: what their command lines say beside the configuration.
#pragma once

#include "traffic/control/options.h"

namespace splitplane::app {

struct TrafficConfig;

// Return the process's exit code: 0 after a normal end, 1 after a failure (said on standard error). gen_command also
// runs the configuration's sink; sink_command only that.
[[nodiscard]] int gen_command(const TrafficConfig& config, const TrafficOptions& options);
[[nodiscard]] int sink_command(const TrafficConfig& config, const TrafficOptions& options);
// No configuration: memory ports. 1 if counts or percentiles were not exact.
[[nodiscard]] int self_test_command(const TrafficOptions& options);

}  // namespace splitplane::app

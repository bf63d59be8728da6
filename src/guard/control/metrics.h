// What the metrics endpoint shows of a guard beside its loops and ports.
#pragma once

#include <span>
#include <vector>

#include "guard/control/seen.h"
#include "observe/metrics.h"

namespace splitplane::app {

[[nodiscard]] MoreMetrics guard_metrics();
[[nodiscard]] std::vector<MetricSamples> guard_samples(std::span<const GuardSeen> seen);

}  // namespace splitplane::app

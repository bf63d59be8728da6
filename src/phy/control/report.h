// The reply of `splitplane phy` to `stats`, and its last words, made of its report.
#pragma once

#include <string>

#include "control/params.h"
#include "phy/capture/mac_capture.h"
#include "phy/worker/worker_report.h"

namespace splitplane::app {

// `capture` is null where there is none.
[[nodiscard]] Json stats_json(const phy::WorkerReport& report, const phy::MacCapture* capture, unsigned core);
// For people, of what stats_json() made.
[[nodiscard]] std::string summary_of(const Json& stats);

}  // namespace splitplane::app

// `splitplane baas`: the buffering service of a gNB.
#pragma once

#include "cli/command/run_options.h"
#include "gnb/config/config.h"

namespace splitplane::app {

[[nodiscard]] int baas_command(const GnbConfig& config, const RunOptions& options);

}  // namespace splitplane::app

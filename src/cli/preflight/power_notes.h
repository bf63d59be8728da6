// What this machine leaves a configuration's power policies without: no error, but a policy then does less than its
// name says. For `check`; the log of `run` says the same of the devices themselves.
#pragma once

#include <string>
#include <vector>

#include "gnb/config/config.h"

namespace splitplane::app {

// One sentence each, "worker w0: ...". Only looks.
[[nodiscard]] std::vector<std::string> power_notes(const GnbConfig& config);

}  // namespace splitplane::app

// What this machine leaves a configuration's power policies without: no error, but a policy then does less than its
// name says. For `check`; the log of `run` says the same of the devices themselves.
#pragma once

#include <string>
#include <vector>

#include "app/config.h"

namespace splitplane::app {

// One sentence each, "worker w0: ...". Only looks.
[[nodiscard]] std::vector<std::string> power_notes(const Config& config);

// Such a policy asks for frequencies, and sleeps until a packet comes where it can.
[[nodiscard]] bool sets_frequencies(power::Kind kind);
// What becomes of its sleeps where packets cannot end them.
[[nodiscard]] const char* without_interrupts(power::Kind kind);

}  // namespace splitplane::app

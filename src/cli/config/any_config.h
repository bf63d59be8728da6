// A configuration file of any program. Which program it is for is told by its sections.
#pragma once

#include <string>
#include <variant>

#include "card/config/config.h"
#include "config/document.h"
#include "gnb/config/config.h"
#include "guard/config/config.h"
#include "phy/config/config.h"
#include "traffic/config/config.h"
#include "ue/config/config.h"

namespace splitplane::app {

using AnyConfig = std::variant<GnbConfig, UeConfig, CardConfig, TrafficConfig, PhyProgramConfig, GuardConfig>;

// Reads and checks a file. Error: "<file>:<line>: <key>: what is wrong; what is allowed" (one line).
[[nodiscard]] Expected<AnyConfig> load_any(const std::string& path);
// The same from text; `file` is for messages.
[[nodiscard]] Expected<AnyConfig> parse_any(const std::string& text, const std::string& file);

[[nodiscard]] const ProgramConfig& shared_part(const AnyConfig& config);
// The first command that the file is for: "run", "ue", "card", "gen", "sink", "phy", "guard".
[[nodiscard]] const char* command_of(const AnyConfig& config);

}  // namespace splitplane::app

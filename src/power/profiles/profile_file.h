// A power profile as a YAML file: read, and written by `splitplane power calibrate`.
#pragma once

#include <string>

#include "base/expected.h"
#include "power/model/profile.h"

namespace splitplane::app {

// Error: "<file>:<line>: <key>: what is wrong; allowed: ..." (one line).
[[nodiscard]] Expected<power::model::Profile> load_profile(const std::string& path);
// The same from text; `file` is for messages.
[[nodiscard]] Expected<power::model::Profile> parse_profile(std::string text, const std::string& file);

// A text that parse_profile() reads as the same profile.
[[nodiscard]] std::string profile_text(const power::model::Profile& profile);

}  // namespace splitplane::app

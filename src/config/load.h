// Reads a configuration from YAML: the document and its common sections. The other sections have readers of their name;
// check.h then checks the whole.
#pragma once

#include <string>

#include "base/expected.h"
#include "config/config.h"
#include "fields/reference.h"

namespace splitplane::app {

// Reads and checks a file. Error: "<file>:<line>: <key>: what is wrong; what is allowed" (one line).
[[nodiscard]] Expected<Config> load_config(const std::string& path);
// The same from text; `file` is for messages.
[[nodiscard]] Expected<Config> parse_config(const std::string& text, const std::string& file);

// Sections whose keys are rows, for config/schema.json and docs/reference/configuration.md.
[[nodiscard]] fields::Section metrics_section();
[[nodiscard]] fields::Section memory_section();
[[nodiscard]] fields::Section port_section();
[[nodiscard]] fields::Section n3_section();
[[nodiscard]] fields::Section air_section();

}  // namespace splitplane::app

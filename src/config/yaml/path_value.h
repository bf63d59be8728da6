// Reads keys whose values are paths. Throw Refusal.
#pragma once

#include <string>

#include "config/yaml/yaml_value.h"

namespace splitplane::app {

[[nodiscard]] std::string read_path(const YamlValue& value);       // of a socket
[[nodiscard]] std::string read_directory(const YamlValue& value);  // from / on

}  // namespace splitplane::app

// What a check of a configuration finds: the key at fault, and a sentence about it.
#pragma once

#include <string>

namespace splitplane::app {

struct Config;

struct Finding {
  std::string key;   // key path, such as workers.w0.n3
  std::string text;  // what is wrong; allowed: ...
};

// "<file>:<line>: <key>: <text>": the line of the key, or of the nearest key above it that the file has.
[[nodiscard]] std::string located(const Config& config, const Finding& finding);

}  // namespace splitplane::app

// What a check of a configuration finds: the key at fault, and a sentence about it; and where in the file that key is.
#pragma once

#include <map>
#include <string>

namespace splitplane::app {

struct Finding {
  std::string key;   // key path, such as workers.w0.n3
  std::string text;  // what is wrong; allowed: ...
};

// Where a configuration came from, for messages.
struct Source {
  std::string file;
  std::map<std::string, int> lines;  // key path -> line of the file
};

// "<file>:<line>: <key>: <text>": the line of the key, or of the nearest key above it that the file has.
[[nodiscard]] std::string located(const Source& source, const Finding& finding);

}  // namespace splitplane::app

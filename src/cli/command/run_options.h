// What the command lines of `splitplane run`, `ue` and `card` say beside the configuration.
#pragma once

#include <optional>
#include <string>

namespace splitplane::app {

struct RunOptions {
  std::optional<double> duration_s;  // absent: until stopped
  bool fresh = false;                // run: forgets the journal of bearers
  std::string stats_json;            // write final stats JSON to this file on exit; empty: do not
};

}  // namespace splitplane::app

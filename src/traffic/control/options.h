// What the command lines of `splitplane gen` and `splitplane sink` say beside the configuration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace splitplane::app {

struct TrafficOptions {
  std::optional<double> duration_s;      // instead of the file's
  std::optional<std::uint32_t> rate;     // instead of the file's
  std::optional<std::uint64_t> packets;  // instead of the file's
  std::string json;                      // results to this file; empty: none
  bool loop = false;                     // gen: a sink on the generator's own port
  bool strict = false;                   // exit code 1 unless every packet came, once and in order
  bool quiet = false;                    // no progress
};

}  // namespace splitplane::app

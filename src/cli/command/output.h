// Where a command writes, and how it ends. Exit codes: 0 all went well, 1 it failed while running, 2 bad usage or
// configuration (one line on standard error).
#pragma once

#include <ostream>

namespace splitplane::app {

inline constexpr int kExitGood = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitBadUsage = 2;

// Where a command writes, and whether for machines.
struct CliOutput {
  std::ostream& out;
  std::ostream& err;
  bool json = false;
};

}  // namespace splitplane::app

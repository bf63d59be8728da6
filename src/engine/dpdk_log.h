// Writes DPDK's log lines as records of our log: with time, level and port, and with repeats folded.
#pragma once

#include <string>

namespace splitplane::datapath {

// Redirects DPDK's log of the whole process to ours, if the process has a log. Call it before the EAL starts, or the
// EAL's first lines are missed.
void take_dpdk_log();
// Logs how often lines were repeated. With `all` it includes lines that are still being counted. Call it from time to
// time, and at the end.
void say_dpdk_repeats(bool all = false);

// Names the port that DPDK's lines are about: all lines of this thread while it opens the port. Later, until the port
// is forgotten, lines that name its device, socket or interface.
class OpeningPort {
 public:
  OpeningPort(const std::string& port, const std::string& device);
  ~OpeningPort();
  OpeningPort(const OpeningPort&) = delete;
  OpeningPort& operator=(const OpeningPort&) = delete;
};
void forget_dpdk_port(const std::string& port);

}  // namespace splitplane::datapath

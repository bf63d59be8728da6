// DPDK's own log lines as records of ours: with time, level and port, repeats folded.
#pragma once

#include <string>

namespace splitplane::datapath {

// From now on, for the whole process, if it has a log. Call before the EAL starts, or its first lines are missed.
void take_dpdk_log();
// Says how often lines came again; `all`: also those that are still counted. From time to time, and at the end.
void say_dpdk_repeats(bool all = false);

// While a port is being opened on this thread, and for lines that name its device, its socket or its interface until it
// is forgotten.
class OpeningPort {
 public:
  OpeningPort(const std::string& port, const std::string& device);
  ~OpeningPort();
  OpeningPort(const OpeningPort&) = delete;
  OpeningPort& operator=(const OpeningPort&) = delete;
};
void forget_dpdk_port(const std::string& port);

}  // namespace splitplane::datapath

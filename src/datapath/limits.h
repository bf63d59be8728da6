// How much one worker can serve: fixed sizes of arrays in the packet path, checked when a configuration is read.
#pragma once

namespace splitplane::datapath {

inline constexpr unsigned kMaxQueues = 64;   // receive queues of one worker (a dispatching one reads all of its ports)
inline constexpr unsigned kMaxWorkers = 16;  // gnb workers behind one dispatching worker

}  // namespace splitplane::datapath

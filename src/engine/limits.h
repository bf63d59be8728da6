// How much one worker can serve: fixed sizes of arrays in the packet path, checked when a configuration is read.
#pragma once

namespace splitplane::datapath {

// Receive queues of one worker: a dispatching one reads all its ports, a card 64 VFs and its two other ports.
inline constexpr unsigned kMaxQueues = 66;
inline constexpr unsigned kMaxWorkers = 16;  // gnb workers behind one dispatching worker

}  // namespace splitplane::datapath

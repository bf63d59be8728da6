// How much one worker can serve: fixed sizes of arrays in the packet path. The configuration's reader checks them.
#pragma once

namespace splitplane::datapath {

// Receive queues of one worker. A dispatching worker reads all its ports; a card's worker reads 64 VFs and two other
// ports.
inline constexpr unsigned kMaxQueues = 66;
inline constexpr unsigned kMaxWorkers = 16;  // gNB workers that one dispatching worker feeds

}  // namespace splitplane::datapath

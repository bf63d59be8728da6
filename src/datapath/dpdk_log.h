// DPDK's own log lines as records of ours, so that a reader of JSON logs finds nothing else on standard error.
#pragma once

namespace splitplane::datapath {

// From now on, for the whole process. Call before the EAL starts, or its first lines are missed.
void take_dpdk_log();

}  // namespace splitplane::datapath

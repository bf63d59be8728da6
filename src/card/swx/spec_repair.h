// Rewrites instructions of p4c-dpdk that DPDK 22.11 executes wrongly, before the pipeline is built.
#pragma once

#include "card/spec/spec_file.h"

namespace splitplane::nic {

// regadd and regwr with a constant index and a constant value: DPDK's translation of them ignores the array's name and
// changes the first array of the program (rte_swx_pipeline.c, REGADD_RII and REGWR_RII). The repair puts the index into
// an extra metadata field.
void repair_constant_register_access(SpecFile& spec);

}  // namespace splitplane::nic

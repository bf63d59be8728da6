// What DPDK 22.11 gets wrong in instructions that p4c-dpdk writes, put in other words before the pipeline is built.
#pragma once

#include "card/swx/spec_file.h"

namespace splitplane::nic {

// regadd and regwr with a constant index and a constant value: DPDK's translation of those forgets which array is meant
// and changes the first one of the program (rte_swx_pipeline.c, REGADD_RII and REGWR_RII). The index goes through a
// metadata field of its own instead.
void repair_constant_register_access(SpecFile& spec);

}  // namespace splitplane::nic

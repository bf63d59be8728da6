// Two tables that an earlier process left: how many proxied connections each source has, counted anew. That process may
// have ended between a change of one table and that of the other.
#pragma once

#include "guard/state/flow_table.h"
#include "guard/state/source_table.h"

namespace splitplane::guard {

void recount_flows(SourceTable& sources, const FlowTable& flows);

}  // namespace splitplane::guard

#include "guard/state/recount.h"

namespace splitplane::guard {

void recount_flows(SourceTable& sources, const FlowTable& flows) {
  sources.forget_flows();
  flows.for_each([&](const Flow& flow) { sources.add_flow(SourceTable::key_of(tuple_of(flow))); });
}

}  // namespace splitplane::guard

// The named amounts of work of header mode (DESIGN 1). Card and host use the same names, so that the cost of each
// addition can be measured. A worker's feature set is a template parameter of its pipeline.
#pragma once

#include "base/outcome_list.h"

namespace splitplane::datapath {

#define SPLITPLANE_FEATURE_SETS(X)                                            \
  X(drop, "receive and drop")                                                 \
  X(l2fwd, "swap the MAC addresses and send")                                 \
  X(decap, "strip GTP-U")                                                     \
  X(headers, "decap, and add SDAP, PDCP and RLC headers of one fixed bearer") \
  X(mat, "headers, of the bearer that the TEID names")                        \
  X(clone_drop, "mat, and take a reference for the copies and release it")    \
  X(clone, "mat, and hand a reference over a ring to the consumer of copies")

SPLITPLANE_OUTCOMES(FeatureSet, SPLITPLANE_FEATURE_SETS)

}  // namespace splitplane::datapath

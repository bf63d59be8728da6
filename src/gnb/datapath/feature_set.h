// The named amounts of work of header mode, also those of a card, so that the cost of each addition can be measured;
// and full mode, where RLC segments what PDCP sends to the grants of MAC (docs/design/full-mode.md). A worker's feature
// set is a template parameter of its pipeline.
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
  X(clone, "mat, and hand a reference over a ring to the consumer of copies") \
  X(full, "full mode: PDCP and RLC entities instead of header mode")

SPLITPLANE_OUTCOMES(FeatureSet, SPLITPLANE_FEATURE_SETS)

// From a value at run time to a template parameter: returns call.operator()<F>() for the F that `features` is.
template <class Call>
decltype(auto) with_features(FeatureSet features, Call&& call) {
#define SPLITPLANE_FEATURE_CASE(id, text) \
  case FeatureSet::id:                    \
    return call.template operator()<FeatureSet::id>();
  switch (features) { SPLITPLANE_FEATURE_SETS(SPLITPLANE_FEATURE_CASE) }
#undef SPLITPLANE_FEATURE_CASE
  __builtin_unreachable();  // no enumerator
}

}  // namespace splitplane::datapath

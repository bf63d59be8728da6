// The only stage of the feature set `drop`, in both directions.
//
//   dropped  feature_drop: every packet
#pragma once

#include "engine/burst.h"

namespace splitplane::datapath {

template <class Path>
inline void drop_burst(Path& path, const Burst& burst, Drops& drops, Stage stage) {
  for (unsigned i = 0; i < burst.size; ++i) drops.add(burst.mbuf[i], DropReason::feature_drop);
  path.probe.stage(stage, burst.size);
}

}  // namespace splitplane::datapath

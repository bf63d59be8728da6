// The only stage of the feature set `drop`, in both directions, and of the air port in full mode.
//
//   dropped  feature_drop, air_unused: every packet
#pragma once

#include "engine/burst.h"

namespace splitplane::datapath {

inline void drop_burst(const Burst& burst, Drops& drops, DropReason reason) {
  for (unsigned i = 0; i < burst.size; ++i) drops.add(burst.mbuf[i], reason);
}

template <class Path>
inline void drop_burst(Path& path, const Burst& burst, Drops& drops, Stage stage) {
  drop_burst(burst, drops, DropReason::feature_drop);
  path.probe.stage(stage, burst.size);
}

}  // namespace splitplane::datapath

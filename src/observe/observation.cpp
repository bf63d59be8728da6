#include "observe/observation.h"

#include <numeric>

namespace splitplane::app {

std::uint64_t WorkerSnapshot::dropped() const {
  return std::accumulate(drops.begin(), drops.end(), std::uint64_t{0});
}

WorkerSnapshot take_snapshot(const datapath::WorkerStats& stats) {
  WorkerSnapshot copy;
  for (std::size_t i = 0; i < copy.stages.size(); ++i) {
    const datapath::StageStats& from = stats.stages[i];
    StageSnapshot& to = copy.stages[i];
#define SPLITPLANE_READ(field, unit, help) to.field = from.field.get();
    SPLITPLANE_STAGE_COUNTERS(SPLITPLANE_READ)
#undef SPLITPLANE_READ
  }
  for (std::size_t i = 0; i < copy.drops.size(); ++i) copy.drops[i] = stats.drops[i].get();
  copy.received = stats.received_total();
  copy.reorder_held = stats.reorder_held.get() + stats.pdcp_held.get() + stats.flow_held.get() + stats.card_held.get();
#define SPLITPLANE_READ(field, unit, help) copy.field = stats.field.get();
  SPLITPLANE_WORKER_COUNTERS(SPLITPLANE_READ)
#undef SPLITPLANE_READ
  return copy;
}

BufferingSnapshot take_snapshot(const baas::BufferingCounters& counters) {
  BufferingSnapshot copy;
#define SPLITPLANE_READ(field, unit, help) copy.field = counters.field.get();
  SPLITPLANE_BUFFERING_COUNTERS(SPLITPLANE_READ)
#undef SPLITPLANE_READ
  return copy;
}

PhyObservation take_snapshot(const gnb::PhyThreadCounters& thread, const phy::PhyLinkCounters& link) {
  PhyObservation copy;
#define SPLITPLANE_READ(field, text) copy.field = thread.field.get();
  SPLITPLANE_PHY_THREAD_COUNTERS(SPLITPLANE_READ)
#undef SPLITPLANE_READ
#define SPLITPLANE_READ(field, text) copy.field = link.field.get();
  SPLITPLANE_PHY_LINK_COUNTERS(SPLITPLANE_READ)
#undef SPLITPLANE_READ
  return copy;
}

}  // namespace splitplane::app

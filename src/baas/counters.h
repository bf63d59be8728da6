// What a core of the buffering service counts beside datapath::WorkerStats: field, unit, help. From this list come the
// fields, `splitplane ctl stats`, the metrics and docs/reference/metrics.md. Only the core's loop writes it; any thread
// may read it.
#pragma once

#include "base/counter.h"

namespace splitplane::baas {

// clang-format off
#define SPLITPLANE_BUFFERING_COUNTERS(X)                                                   \
  X(copies, "packets", "SDUs that workers told of, with a copy in their ledgers")          \
  X(without_copy, "packets", "SDUs that workers told of, of which no copy came")           \
  X(released, "packets", "SDUs that the UE acknowledged, given back")                      \
  X(withdrawn, "packets", "SDUs of bearers that closed or began anew")                     \
  X(skipped, "packets", "SDUs that were acknowledged before this process knew of them")    \
  X(no_room, "", "times that an SDU found no memory, and has to be told of again")         \
  X(sent_again, "packets", "SDUs that a worker was asked to send again")                   \
  X(statuses, "packets", "STATUS PDUs that came")                                          \
  X(acknowledged, "", "times that a worker was told what the UE has")                      \
  X(opened, "", "times that a bearer opened or began anew")                                \
  X(closed, "", "times that a bearer closed or made room for its next beginning")          \
  X(strays, "", "messages of workers that fit nothing here")
// clang-format on

struct BufferingCounters {
#define SPLITPLANE_BUFFERING_FIELD(field, unit, help) Counter field;
  SPLITPLANE_BUFFERING_COUNTERS(SPLITPLANE_BUFFERING_FIELD)
#undef SPLITPLANE_BUFFERING_FIELD
};

// True if each SDU that workers told of was given back, was withdrawn, or is held. `held`: as the windows say, so that
// an SDU that a window drops, or takes without being counted, is noticed.
[[nodiscard]] inline bool balanced(const BufferingCounters& counters, std::uint64_t held) {
  const std::uint64_t told = counters.copies.get() + counters.without_copy.get();
  return told == counters.released.get() + counters.withdrawn.get() + held;
}

}  // namespace splitplane::baas

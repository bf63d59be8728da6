// How the kernel schedules the thread of a loop. These keys are the same for a worker and a card.
#pragma once

namespace splitplane::app {

struct ScheduleConfig {
  enum class Kind { kOther, kFifo };
  Kind kind = Kind::kOther;
  unsigned fifo_priority = 1;  // of SCHED_FIFO
};

}  // namespace splitplane::app

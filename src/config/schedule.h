// How a loop runs: when it sleeps (its policy) and how the kernel schedules its thread. These keys are the same for a
// worker, a card and the UE side.
#pragma once

#include "power/settings.h"

namespace splitplane::app {

class YamlMap;
class YamlValue;

struct ScheduleConfig {
  enum class Kind { kOther, kFifo };
  Kind kind = Kind::kOther;
  unsigned fifo_priority = 1;  // of SCHED_FIFO
};

// Reads the key `policy`. Throws Refusal.
[[nodiscard]] power::Settings read_policy(const YamlValue& value);
// Reads the keys `schedule` and `fifo_priority`. Throws Refusal.
void read_schedule(const YamlMap& map, ScheduleConfig& schedule);

}  // namespace splitplane::app

// The keys of a loop: when it sleeps (its policy) and how the kernel schedules its thread. They are the same for a
// worker, a card and the UE side.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "config/yaml/yaml_value.h"
#include "fields/field.h"
#include "fields/reference.h"
#include "power/settings.h"
#include "runtime/config/schedule.h"

namespace splitplane::app {

inline constexpr std::array<std::string_view, 2> kScheduleNames{"other", "fifo"};  // as in ScheduleConfig

// Rows for the keys of a loop in its section, whose struct has the ScheduleConfig `Member`.
template <auto Member>
constexpr fields::Field schedule_row() {
  return fields::word<kScheduleNames, Member, &ScheduleConfig::kind>(
      "schedule",
      {.help = "How the kernel schedules the thread, once it runs its loop: as any other, or by SCHED_FIFO"});
}
template <auto Member>
constexpr fields::Field fifo_priority_row() {
  return fields::integer<Member, &ScheduleConfig::fifo_priority>("fifo_priority", 1, 99,
                                                                 {.help = "Priority with schedule fifo"});
}
template <class T>
constexpr fields::Field policy_row() {
  return fields::by_hand<T>("policy", R"({"$ref": "#/$defs/policy"})",
                            {.help = "How the loop spends the time while there is nothing to do",
                             .special = "absent: yield",
                             .more = "See [power.md](power.md)."});
}

// The settings of each kind of policy, for config/schema.json: sections `policy_yield` and so on.
[[nodiscard]] std::vector<fields::Section> policy_sections();
// Reads the key `policy`, if it is there. Throws Refusal.
void read_policy(const YamlMap& map, power::Settings& policy);
// Checks the keys `schedule` and `fifo_priority`, which are read. Throws Refusal.
void check_schedule(const YamlMap& map, const ScheduleConfig& schedule);

}  // namespace splitplane::app

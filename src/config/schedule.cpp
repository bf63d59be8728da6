#include "config/schedule.h"

#include <algorithm>
#include <array>

#include "config/yaml/yaml_value.h"
#include "power/settings_table.h"

namespace splitplane::app {
namespace {

constexpr std::array<std::string_view, 2> kSchedules{"other", "fifo"};  // as in ScheduleConfig

std::vector<std::string_view> keys_of(std::span<const power::SettingRow> rows) {
  std::vector<std::string_view> keys{"kind"};
  for (const auto& row : rows) {
    if (std::find(keys.begin(), keys.end(), row.name) == keys.end()) keys.push_back(row.name);
  }
  return keys;
}

}  // namespace

power::Settings read_policy(const YamlValue& value) {
  power::Settings policy;
  if (!value.is_map()) {
    policy.kind = static_cast<power::Kind>(value.one_of(power::kKindNames));
    return policy;
  }
  const YamlMap map = value.map(keys_of(power::kSettings));
  const std::size_t kind = map.required("kind").one_of(power::kKindNames);
  policy.kind = static_cast<power::Kind>(kind);
  const auto rows = power::settings_of(policy.kind);
  map.only(keys_of(rows), fmt::format("does not belong to policy {}", power::kKindNames[kind]));
  for (const auto& row : rows) {
    const auto v = map.find(row.name);
    if (!v) continue;
    row.set(policy, row.whole ? static_cast<double>(v->integer(static_cast<std::uint64_t>(row.min),
                                                               static_cast<std::uint64_t>(row.max)))
                              : v->number(row.min, row.max));
  }
  if (const auto c = power::conflict(policy)) {
    if (const auto v = map.find(c->name)) v->refuse(c->wrong, c->allowed);
    value.refuse(fmt::format("{} {}", c->name, c->wrong), c->allowed);
  }
  return policy;
}

void read_schedule(const YamlMap& map, ScheduleConfig& schedule) {
  if (const auto v = map.find("schedule")) schedule.kind = static_cast<ScheduleConfig::Kind>(v->one_of(kSchedules));
  map.read("fifo_priority", schedule.fifo_priority, 1, 99);
  if (const auto v = map.find("fifo_priority"); v && schedule.kind != ScheduleConfig::Kind::kFifo)
    v->refuse("stands at a worker that is not scheduled so", "with schedule: fifo");
}

}  // namespace splitplane::app

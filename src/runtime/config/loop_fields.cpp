#include "runtime/config/loop_fields.h"

#include <algorithm>
#include <deque>

#include "base/text.h"
#include "power/settings_table.h"

namespace splitplane::app {
namespace {

std::vector<std::string_view> keys_of(std::span<const power::SettingRow> rows) {
  std::vector<std::string_view> keys{"kind"};
  for (const auto& row : rows) {
    if (std::find(keys.begin(), keys.end(), row.name) == keys.end()) keys.push_back(row.name);
  }
  return keys;
}

power::Settings read_settings(const YamlValue& value) {
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

// A setting as a key. The file's reader above goes by the settings' own table.
fields::Field field_of(const power::SettingRow& row) {
  fields::Field field;
  field.name = row.name;
  field.kind = row.whole ? fields::Kind::kInteger : fields::Kind::kNumber;
  field.min = static_cast<std::uint64_t>(row.min);
  field.max = static_cast<std::uint64_t>(row.max);
  field.least = row.min;
  field.most = row.max;
  field.notes.help = row.help;
  return field;
}

struct Policies {
  Policies();
  [[nodiscard]] fields::Section section_of(power::Kind kind);

  std::deque<fields::Field> fields;  // the keys of the sections refer to them
  std::deque<std::string> schemas;
  std::vector<fields::Section> sections;
};

Policies::Policies() {
  for (std::size_t kind = 0; kind < power::kKindNames.size(); ++kind)
    sections.push_back(section_of(static_cast<power::Kind>(kind)));
}

fields::Section Policies::section_of(power::Kind kind) {
  const std::string_view name = power::kKindNames[static_cast<std::size_t>(kind)];
  fields::Section section{fmt::format("policy_{}", name), {}};
  fields::Field& word = fields.emplace_back();
  word.name = "kind";
  word.kind = fields::Kind::kByHand;
  word.schema = schemas.emplace_back(fmt::format(R"({{"const": "{}"}})", name));
  section.keys.push_back({.field = &word, .required = true, .usual = {}, .members = {}});
  for (const auto& row : power::settings_of(kind)) {
    const double usual = row.get({});
    section.keys.push_back(
        {.field = &fields.emplace_back(field_of(row)),
         .required = false,
         .usual = row.whole ? fields::Value{static_cast<std::uint64_t>(usual)} : fields::Value{usual},
         .members = {}});
  }
  return section;
}

}  // namespace

std::vector<fields::Section> policy_sections() {
  static const Policies policies;
  return policies.sections;
}

void read_policy(const YamlMap& map, power::Settings& policy) {
  if (const auto v = map.find("policy")) policy = read_settings(*v);
}

void check_schedule(const YamlMap& map, const ScheduleConfig& schedule) {
  if (const auto v = map.find("fifo_priority"); v && schedule.kind != ScheduleConfig::Kind::kFifo)
    v->refuse("stands at a worker that is not scheduled so", "with schedule: fifo");
}

}  // namespace splitplane::app

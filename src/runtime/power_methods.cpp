#include "runtime/power_methods.h"

#include <optional>
#include <span>
#include <utility>

#include "base/text.h"
#include "power/settings_table.h"

namespace splitplane::app {
namespace {

power::Settings read_settings(Params& params) {
  const auto word = params.text("kind");
  const auto kind = word ? power::kind_named(*word) : std::nullopt;
  if (word && !kind) {
    params.refuse("kind", fmt::format("'{}' is unknown; allowed: {}", printable(*word), comma_list(power::kKindNames)));
  }
  power::Settings settings{.kind = kind.value_or(power::Kind::yield)};
  for (const auto& row : kind ? power::settings_of(*kind) : std::span<const power::SettingRow>{}) {
    if (row.whole) {
      const auto value =
          params.integer(row.name, static_cast<std::uint64_t>(row.min), static_cast<std::uint64_t>(row.max));
      if (value) row.set(settings, static_cast<double>(*value));
    } else if (const auto value = params.number(row.name, row.min, row.max)) {
      row.set(settings, *value);
    }
  }
  return settings;
}

}  // namespace

MethodRegistry::Handler power_show(std::function<Expected<Json>()> show, std::function<Json()> meter) {
  return without_params([show = std::move(show), meter = std::move(meter)] {
    return show().map([&](Json rows) {
      Json answer{{"workers", std::move(rows)}};
      if (meter) answer["meter"] = meter();
      return answer;
    });
  });
}

MethodRegistry::Handler power_set(SetPower set) {
  return [set = std::move(set)](Params& params) -> Expected<Json> {
    params.require("worker");
    params.require("kind");
    const auto worker = params.text("worker");
    const power::Settings settings = read_settings(params);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    if (const auto c = power::conflict(settings)) return fail("{}: {}; allowed: {}", c->name, c->wrong, c->allowed);
    return set(*worker, settings);
  };
}

}  // namespace splitplane::app

#include "control/methods/power.h"

#include "base/text.h"
#include "power/settings_table.h"

namespace splitplane::app {

Expected<Json> power_show_method(Params& params, ControlBackend& backend) {
  if (const auto fault = params.fault()) return fail("{}", *fault);
  return backend.show_power().map([](Json rows) { return Json{{"workers", std::move(rows)}}; });
}

Expected<Json> power_set_method(Params& params, ControlBackend& backend) {
  params.require("worker");
  params.require("kind");
  const auto worker = params.text("worker");
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
  if (const auto fault = params.fault()) return fail("{}", *fault);
  if (const auto c = power::conflict(settings)) return fail("{}: {}; allowed: {}", c->name, c->wrong, c->allowed);
  return backend.set_power(*worker, settings);
}

}  // namespace splitplane::app

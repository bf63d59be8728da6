#include "power/settings_table.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <utility>

namespace splitplane::power {
namespace {

std::string names_of(Kind kind) {
  std::string names;
  for (const auto& row : settings_of(kind)) names.append(names.empty() ? "" : ", ").append(row.name);
  return names.empty() ? "none" : names;
}

std::string_view name_of(Kind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

Conflict must_exceed(std::string_view name, unsigned value, std::string_view other, unsigned least) {
  return {name, fmt::format("is {}, and {} is {}", value, other, least), fmt::format("more than {}", other)};
}

}  // namespace

std::optional<Kind> kind_named(std::string_view name) {
  const auto* const at = std::find(kKindNames.begin(), kKindNames.end(), name);
  if (at == kKindNames.end()) return std::nullopt;
  return static_cast<Kind>(at - kKindNames.begin());
}

const SettingRow* find_setting(Kind kind, std::string_view name) {
  const auto rows = settings_of(kind);
  const auto at = std::find_if(rows.begin(), rows.end(), [name](const SettingRow& row) { return row.name == name; });
  return at == rows.end() ? nullptr : &*at;
}

std::string allowed(const SettingRow& row) {
  if (row.whole) return fmt::format("an integer from {:.0f} to {:.0f}", row.min, row.max);
  return fmt::format("a number from {} to {}", row.min, row.max);
}

std::optional<Conflict> conflict(const Settings& settings) {
  if (settings.kind != Kind::paper && settings.kind != Kind::paper_printed) return std::nullopt;
  const PaperSettings& p = settings.kind == Kind::paper ? settings.paper : settings.printed;
  if (p.long_idle_polls <= p.short_idle_polls)
    return must_exceed("long_idle_polls", p.long_idle_polls, "short_idle_polls", p.short_idle_polls);
  if (p.climb_packets <= p.step_packets)
    return must_exceed("climb_packets", p.climb_packets, "step_packets", p.step_packets);
  if (p.max_packets <= p.climb_packets)
    return must_exceed("max_packets", p.max_packets, "climb_packets", p.climb_packets);
  if (p.trend_climb <= p.trend_step) return must_exceed("trend_climb", p.trend_climb, "trend_step", p.trend_step);
  if (p.trend_limit <= p.trend_climb) return must_exceed("trend_limit", p.trend_limit, "trend_climb", p.trend_climb);
  return std::nullopt;
}

Expected<void> assign(Settings& settings, std::string_view key_and_value) {
  const std::size_t cut = key_and_value.find('=');
  const std::string_view key = key_and_value.substr(0, cut);
  const SettingRow* const row = find_setting(settings.kind, key);
  if (row == nullptr)
    return fail("'{}' is no setting of policy {}; allowed: {}", key, name_of(settings.kind), names_of(settings.kind));
  const std::string_view text = cut == std::string_view::npos ? "" : key_and_value.substr(cut + 1);
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool number = read.ec == std::errc{} && read.ptr == text.data() + text.size() && std::isfinite(value);
  if (!number || value < row->min || value > row->max || (row->whole && value != std::floor(value)))
    return fail("{}: '{}'; allowed: {}", key, text, allowed(*row));
  row->set(settings, value);
  return {};
}

Expected<void> assign_all(Settings& settings, std::span<const std::string> keys_and_values) {
  for (const auto& text : keys_and_values) {
    if (auto assigned = assign(settings, text); !assigned) return assigned;
  }
  if (const auto c = conflict(settings)) return fail("{}: {}; allowed: {}", c->name, c->wrong, c->allowed);
  return {};
}

}  // namespace splitplane::power

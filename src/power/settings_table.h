// Every setting of every policy as one row. The configuration file, the control protocol, the command line and the
// documentation take names, limits and words from here.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/expected.h"
#include "power/settings.h"

namespace splitplane::power {

struct SettingRow {
  Kind kind;
  std::string_view name;
  double min, max;
  std::string_view help;
  bool whole;  // takes no fraction
  double (*get)(const Settings&);
  void (*set)(Settings&, double);
};

// Part: pointer to the member of Settings that belongs to the kind. Field: pointer to a member of that member.
template <auto Part, auto Field>
constexpr SettingRow setting(Kind kind, std::string_view name, double min, double max, std::string_view help) {
  using Number = std::remove_cvref_t<decltype((Settings{}.*Part).*Field)>;
  return {kind,
          name,
          min,
          max,
          help,
          std::integral<Number>,
          [](const Settings& settings) { return static_cast<double>((settings.*Part).*Field); },
          [](Settings& settings, double value) { (settings.*Part).*Field = static_cast<Number>(value); }};
}

// In the order of Kind. A wait of more than a second would keep a worker from its stop flag.
// clang-format off
inline constexpr std::array<SettingRow, 32> kSettings{{
    setting<&Settings::yield, &YieldSettings::empty_rounds>(Kind::yield, "empty_rounds", 1, 1e6, "Rounds without a packet before a sleep"),
    setting<&Settings::yield, &YieldSettings::sleep_us>(Kind::yield, "sleep_us", 1, 1e5, "Length of the first sleep; each one that found no packet doubles the next, up to ten times this"),
    setting<&Settings::paper, &PaperSettings::short_idle_polls>(Kind::paper, "short_idle_polls", 1, 1e6, "Empty polls of a queue until its idle hint is the short one"),
    setting<&Settings::paper, &PaperSettings::long_idle_polls>(Kind::paper, "long_idle_polls", 2, 1e6, "Empty polls of a queue until it is the long one: interrupts"),
    setting<&Settings::paper, &PaperSettings::short_idle_us>(Kind::paper, "short_idle_us", 1, 1000, "Pause of the short hint"),
    setting<&Settings::paper, &PaperSettings::step_packets>(Kind::paper, "step_packets", 0, 65533, "With more packets than this waiting the trend grows by trend_step"),
    setting<&Settings::paper, &PaperSettings::climb_packets>(Kind::paper, "climb_packets", 1, 65534, "With more than this it grows by trend_climb"),
    setting<&Settings::paper, &PaperSettings::max_packets>(Kind::paper, "max_packets", 2, 65535, "With more than this the core goes to its highest frequency at once"),
    setting<&Settings::paper, &PaperSettings::trend_step>(Kind::paper, "trend_step", 1, 1e6, "See step_packets"),
    setting<&Settings::paper, &PaperSettings::trend_climb>(Kind::paper, "trend_climb", 1, 1e6, "See climb_packets"),
    setting<&Settings::paper, &PaperSettings::trend_limit>(Kind::paper, "trend_limit", 1, 1e9, "At this trend the core goes one frequency up"),
    setting<&Settings::paper, &PaperSettings::wait_ms>(Kind::paper, "wait_ms", 1, 1000, "Longest sleep"),
    setting<&Settings::paper, &PaperSettings::trend_decay_us>(Kind::paper, "trend_decay_us", 1, 1e6, "The trend halves in so long"),
    setting<&Settings::paper, &PaperSettings::down_dwell_ms>(Kind::paper, "down_dwell_ms", 1, 60000, "Time at one frequency before a step down"),
    setting<&Settings::paper, &PaperSettings::down_utilisation>(Kind::paper, "down_utilisation", 0.05, 1, "A step down must leave the core less busy than this"),
    setting<&Settings::printed, &PaperSettings::short_idle_polls>(Kind::paper_printed, "short_idle_polls", 1, 1e6, "Empty polls of a queue until its idle hint is the short one"),
    setting<&Settings::printed, &PaperSettings::long_idle_polls>(Kind::paper_printed, "long_idle_polls", 2, 1e6, "Empty polls of a queue until it is the long one: interrupts"),
    setting<&Settings::printed, &PaperSettings::short_idle_us>(Kind::paper_printed, "short_idle_us", 1, 1000, "Pause of the short hint"),
    setting<&Settings::printed, &PaperSettings::step_packets>(Kind::paper_printed, "step_packets", 0, 65533, "With more packets than this waiting the trend grows by trend_step"),
    setting<&Settings::printed, &PaperSettings::climb_packets>(Kind::paper_printed, "climb_packets", 1, 65534, "With more than this it grows by trend_climb"),
    setting<&Settings::printed, &PaperSettings::max_packets>(Kind::paper_printed, "max_packets", 2, 65535, "With more than this the core goes to its highest frequency at once"),
    setting<&Settings::printed, &PaperSettings::trend_step>(Kind::paper_printed, "trend_step", 1, 1e6, "See step_packets"),
    setting<&Settings::printed, &PaperSettings::trend_climb>(Kind::paper_printed, "trend_climb", 1, 1e6, "See climb_packets"),
    setting<&Settings::printed, &PaperSettings::trend_limit>(Kind::paper_printed, "trend_limit", 1, 1e9, "At this trend the core goes one frequency up"),
    setting<&Settings::printed, &PaperSettings::wait_ms>(Kind::paper_printed, "wait_ms", 1, 1000, "Longest sleep"),
    setting<&Settings::l3fwd, &L3fwdSettings::wait_ms>(Kind::l3fwd, "wait_ms", 1, 1000, "Longest sleep"),
    setting<&Settings::metronome, &MetronomeSettings::latency_us>(Kind::metronome, "latency_us", 1, 1e5, "Target of the mean time that a packet waits"),
    setting<&Settings::budget, &BudgetSettings::latency_us>(Kind::budget, "latency_us", 1, 1e5, "What resting may add to a packet's way through the worker"),
    setting<&Settings::budget, &BudgetSettings::spin_us>(Kind::budget, "spin_us", 0, 1e5, "Polls so long after a packet before it rests"),
    setting<&Settings::budget, &BudgetSettings::max_sleep_ms>(Kind::budget, "max_sleep_ms", 1, 1000, "Longest sleep, where packets can end it"),
    setting<&Settings::budget, &BudgetSettings::dwell_ms>(Kind::budget, "dwell_ms", 1, 60000, "Time at one frequency before a step down"),
    setting<&Settings::budget, &BudgetSettings::utilisation>(Kind::budget, "utilisation", 0.05, 1, "The lowest frequency that keeps the core less busy than this is chosen"),
}};
// clang-format on

[[nodiscard]] constexpr std::span<const SettingRow> settings_of(Kind kind) {
  const auto has = [kind](const SettingRow& row) { return row.kind == kind; };
  const auto* const first = std::find_if(kSettings.begin(), kSettings.end(), has);
  return {first, std::find_if_not(first, kSettings.end(), has)};
}

[[nodiscard]] std::optional<Kind> kind_named(std::string_view name);
[[nodiscard]] const SettingRow* find_setting(Kind kind, std::string_view name);

// "an integer from 1 to 1000", "a number from 0.05 to 1"
[[nodiscard]] std::string allowed(const SettingRow& row);

// Settings of a kind whose values contradict each other.
struct Conflict {
  std::string_view name;  // of the row to change
  std::string wrong, allowed;
};
[[nodiscard]] std::optional<Conflict> conflict(const Settings& settings);

// Assigns "latency_us=50" for the kind that the settings have. The error is one sentence.
[[nodiscard]] Expected<void> assign(Settings& settings, std::string_view key_and_value);
// Assigns all of them, and then checks that they fit each other.
[[nodiscard]] Expected<void> assign_all(Settings& settings, std::span<const std::string> keys_and_values);

}  // namespace splitplane::power

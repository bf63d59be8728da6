#include "cli/power/words.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"
#include "power/settings_table.h"

namespace splitplane::app {
namespace {

constexpr std::uint64_t kHighestCost = 1'000'000'000;

// Sets `value` from `text`, or says what is allowed.
Expected<void> assign(const std::string& word, std::string_view text, std::uint64_t& value, std::uint64_t lowest) {
  std::uint64_t read = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
  if (error != std::errc{} || end != text.data() + text.size() || read < lowest || read > kHighestCost) {
    return fail("'{}'; allowed: {} to {} ns", printable(word), lowest, kHighestCost);
  }
  value = read;
  return {};
}

tl::unexpected<Error> unknown(const std::string& word, std::string_view name, const std::vector<std::string>& known) {
  const std::vector<std::string_view> names(known.begin(), known.end());
  const auto near = closest(name, names);
  const std::string hint = near ? fmt::format(", did you mean '{}'?", *near) : "";
  return fail("'{}' is unknown{}; allowed: {}", printable(word), hint, comma_list(names));
}

}  // namespace

Expected<void> apply_setting(const std::string& word, power::Settings& settings) {
  const std::size_t dot = word.find('.');
  const auto kind = power::kind_named(std::string_view(word).substr(0, dot));
  if (dot == std::string::npos || !kind) {
    return fail("'{}'; allowed: POLICY.NAME=VALUE, POLICY one of {}", printable(word), comma_list(power::kKindNames));
  }
  settings.kind = *kind;
  return power::assign(settings, std::string_view(word).substr(dot + 1));
}

Expected<void> apply_cost(const std::string& word, power::replay::Costs& costs) {
  const std::size_t sign = word.find('=');
  const std::string_view name = std::string_view(word).substr(0, sign);
  if (sign == std::string::npos) return fail("'{}' has no value; allowed: NAME=NANOSECONDS", printable(word));
  std::optional<Expected<void>> done;
  std::vector<std::string> known;
  power::replay::each_cost(costs, [&](std::string_view cost, std::uint64_t& value, std::string_view) {
    known.emplace_back(cost);
    // A round takes time, or the simulation would not end.
    const std::uint64_t lowest = cost == "poll" ? 1 : 0;
    if (cost == name) done = assign(word, std::string_view(word).substr(sign + 1), value, lowest);
  });
  return done ? *done : unknown(word, name, known);
}

std::string settings_help() {
  std::string text = "\nSettings of policies (--set), with their defaults:\n";
  const power::Settings defaults;
  for (const power::SettingRow& row : power::kSettings) {
    const auto name = power::kKindNames[static_cast<std::size_t>(row.kind)];
    text += fmt::format("  {:<32}{}\n", fmt::format("{}.{}={}", name, row.name, row.get(defaults)), row.help);
  }
  return text;
}

std::string costs_help() {
  std::string text = "\nCosts of the simulated core (--cost), assumed, in ns:\n";
  const power::replay::Costs defaults;
  power::replay::each_cost(defaults, [&](std::string_view name, std::uint64_t value, std::string_view what) {
    text += fmt::format("  {:<24}{}\n", fmt::format("{}={}", name, value), what);
  });
  return text;
}

Expected<std::vector<power::Kind>> kinds_of(const std::vector<std::string>& words) {
  std::vector<power::Kind> kinds;
  for (const std::string& word : words) {
    const auto found = std::find(power::kKindNames.begin(), power::kKindNames.end(), word);
    if (found == power::kKindNames.end() && word != "all") {
      return fail("policy '{}'; allowed: all, {}", printable(word), comma_list(power::kKindNames));
    }
    for (std::size_t i = 0; i < power::kKindNames.size(); ++i) {
      if (word != "all" && power::kKindNames[i] != word) continue;
      const auto kind = static_cast<power::Kind>(i);
      if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
    }
  }
  return kinds;
}

}  // namespace splitplane::app

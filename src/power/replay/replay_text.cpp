#include "power/replay/replay_text.h"

#include <fmt/format.h>

#include <functional>
#include <vector>

#include "power/replay/energy.h"
#include "power/settings_table.h"

namespace splitplane::power::replay {
namespace {

constexpr double kPercentiles[] = {50, 99, 99.9};

std::string_view name_of(const Replayed& run) {
  return kKindNames[static_cast<std::size_t>(run.settings.kind)];
}

double microseconds(std::uint64_t ns) {
  return static_cast<double>(ns) / 1000;
}

}  // namespace

std::string table(std::span<const Replayed> runs, const CoreSettings& core) {
  std::string text = fmt::format("{:<26}", "");
  for (const Replayed& run : runs) text += fmt::format("{:>15}", name_of(run));
  text += '\n';
  const auto line = [&](const std::string& title, const std::function<std::string(const Replayed&)>& cell) {
    text += fmt::format("{:<26}", title);
    for (const Replayed& run : runs) text += fmt::format("{:>15}", cell(run));
    text += '\n';
  };
  const auto counted = [&](const std::string& title, std::uint64_t CoreResult::* count) {
    line(title, [&](const Replayed& run) { return fmt::format("{}", run.core.*count); });
  };
  for (std::size_t state = 0; state < kStates; ++state) {
    line(fmt::format("{} %", kStateNames[state]),
         [&](const Replayed& run) { return fmt::format("{:.2f}", 100 * run.share(static_cast<State>(state))); });
  }
  line("active %", [&](const Replayed& run) { return fmt::format("{:.2f}", 100 * run.active(core)); });
  for (unsigned p = 0; core.p_states > 1 && p < core.p_states; ++p) {
    line(fmt::format("P{} %", p),
         [&](const Replayed& run) { return fmt::format("{:.2f}", 100 * run.p_state_share(p)); });
  }
  std::vector<Energy> energies;
  for (const Replayed& run : runs) energies.push_back(modelled_energy(run, core));
  const auto modelled = [&](const std::string& title, const std::function<std::string(const Energy&)>& cell) {
    line(title, [&](const Replayed& run) { return cell(energies[static_cast<std::size_t>(&run - runs.data())]); });
  };
  modelled("modelled watts", [](const Energy& e) { return fmt::format("{:.3f}", e.watts); });
  modelled("  prices x0.5 to x2", [](const Energy& e) { return fmt::format("{:.2f}-{:.2f}", e.low, e.high); });
  modelled("modelled joules", [](const Energy& e) { return fmt::format("{:.3f}", e.joules); });
  modelled("modelled uJ a packet", [](const Energy& e) { return fmt::format("{:.2f}", e.microjoules_per_packet); });
  counted("P-state transitions", &CoreResult::p_transitions);
  counted("sleeps", &CoreResult::sleeps);
  counted("wake-ups", &CoreResult::wakes);
  counted("by interrupt", &CoreResult::interrupts);
  counted("sleeps saved by re-check", &CoreResult::rechecks);
  for (const double percent : kPercentiles) {
    line(fmt::format("added us, p{}", percent),
         [&](const Replayed& run) { return fmt::format("{:.2f}", microseconds(run.core.added.percentile(percent))); });
  }
  line("added us, max", [](const Replayed& run) { return fmt::format("{:.2f}", microseconds(run.core.added.max())); });
  line("queued, p99", [](const Replayed& run) { return fmt::format("{}", run.queued(99)); });
  counted("queued, most", &CoreResult::most_queued);
  counted("arrived", &CoreResult::arrivals);
  counted("processed", &CoreResult::served);
  counted("lost", &CoreResult::lost);
  line("times faster than real", [](const Replayed& run) {
    return fmt::format("{:.0f}", static_cast<double>(run.duration_ns) / 1e9 / run.wall_s);
  });
  return text;
}

nlohmann::ordered_json to_json(const Replayed& run, const CoreSettings& core) {
  nlohmann::ordered_json json;
  json["policy"] = name_of(run);
  for (const SettingRow& row : settings_of(run.settings.kind)) {
    json["settings"][std::string(row.name)] = row.get(run.settings);
  }
  for (std::size_t state = 0; state < kStates; ++state) {
    json["residency"][kStateNames[state]] = run.share(static_cast<State>(state));
  }
  json["active"] = run.active(core);
  for (unsigned p = 0; p < core.p_states; ++p) json["p_states"].push_back(run.p_state_share(p));
  const Energy energy = modelled_energy(run, core);
  json["modelled"] = {{"watts", energy.watts},
                      {"watts_low", energy.low},
                      {"watts_high", energy.high},
                      {"joules", energy.joules},
                      {"microjoules_per_packet", energy.microjoules_per_packet}};
  json["p_transitions"] = run.core.p_transitions;
  json["sleeps"] = run.core.sleeps;
  json["wakes"] = run.core.wakes;
  json["interrupts"] = run.core.interrupts;
  json["rechecks"] = run.core.rechecks;
  for (const double percent : kPercentiles) {
    json["added_us"][fmt::format("p{}", percent)] = microseconds(run.core.added.percentile(percent));
  }
  json["added_us"]["max"] = microseconds(run.core.added.max());
  json["queued"] = {{"p99", run.queued(99)}, {"most", run.core.most_queued}, {"at_end", run.core.queued}};
  json["arrived"] = run.core.arrivals;
  json["processed"] = run.core.served;
  json["lost"] = run.core.lost;
  json["simulated_s"] = static_cast<double>(run.duration_ns) / 1e9;
  json["real_s"] = run.wall_s;
  return json;
}

}  // namespace splitplane::power::replay

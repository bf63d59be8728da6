#include "cli/power/screen.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cli/ctl/table.h"
#include "power/settings_table.h"

namespace splitplane::app {
namespace {

constexpr std::array<const char*, 4> kParts{"busy", "idle", "paused", "asleep"};

double cycles_of(const Json& worker, const char* part) {
  return worker.at("cycles").at(part).get<double>();
}

const Json* named(const Json& answer, const Json& name) {
  if (!answer.is_object()) return nullptr;
  for (const auto& worker : answer.at("workers")) {
    if (worker.at("name") == name) return &worker;
  }
  return nullptr;
}

std::string percent(const Json& share) {
  return fmt::format("{:.1f}%", share.get<double>() * 100);
}

// "13 P-states of acpi-cpufreq, at P2 = 1600 MHz", or why there is none.
std::string frequency_text(const Json& governor) {
  if (!governor.is_object()) return "not set by this policy";
  if (governor.contains("reason")) return "stays as it is: " + printable(governor.at("reason").get<std::string>(), 200);
  const auto p_state = governor.at("p_state").get<std::size_t>();
  return fmt::format(
      "P{} of {} by {}, {} MHz{}, {} refused", p_state, governor.at("p_states").get<unsigned>(),
      printable(governor.at("driver").get<std::string>(), 40), governor.at("khz").at(p_state).get<unsigned>() / 1000,
      p_state == 0 && governor.at("turbo").get<bool>() ? " (turbo)" : "", governor.at("errors").get<unsigned>());
}

std::string interrupts_text(const Json& worker) {
  const auto& without = worker.at("queues_without_interrupt");
  if (without.empty()) return "of every queue";
  std::vector<std::string> names;
  for (const auto& name : without) names.push_back(printable(name.get<std::string>(), 60));
  return fmt::format("none from {}", fmt::join(names, ", "));
}

std::string range(const power::SettingRow& row) {
  return row.whole ? fmt::format("{:.0f} to {:.0f}", row.min, row.max) : fmt::format("{} to {}", row.min, row.max);
}

}  // namespace

void add_shares(Json& now, const Json& before) {
  for (auto& worker : now.at("workers")) {
    const Json* earlier = named(before, worker.at("name"));
    std::array<double, kParts.size()> cycles{};
    for (std::size_t i = 0; i < kParts.size(); ++i)
      cycles[i] = cycles_of(worker, kParts[i]) - (earlier != nullptr ? cycles_of(*earlier, kParts[i]) : 0);
    const double all = cycles[0] + cycles[1] + cycles[3];  // pauses are counted as idle
    cycles[1] -= cycles[2];
    for (std::size_t i = 0; i < kParts.size(); ++i)
      worker["share"][kParts[i]] = all > 0 ? std::clamp(cycles[i] / all, 0.0, 1.0) : 0.0;
    const double cpu =
        worker.at("cpu_cycles").get<double>() - (earlier != nullptr ? earlier->at("cpu_cycles").get<double>() : 0);
    worker["cpu_share"] = all > 0 ? std::clamp(cpu / all, 0.0, 1.0) : 0.0;
  }
}

std::string policy_text(const Json& policy) {
  std::string text = policy.at("kind").get<std::string>();
  for (const auto& [key, value] : policy.items()) {
    if (key != "kind") text += fmt::format(", {} {}", key, value.dump());
  }
  return text;
}

namespace {

std::string watts_text(const Json& watts) {
  return watts.is_null() ? "not known" : fmt::format("{:.1f} W", watts.get<double>());
}

std::string joules_text(const Json& joules) {
  return joules.is_null() ? "" : fmt::format(", {:.3g} J a packet", joules.get<double>());
}

std::string word_of(const Json& object, const char* key, std::size_t limit = 200) {
  return printable(object.at(key).get<std::string>(), limit);
}

std::string modelled_text(const Json& modelled) {
  if (modelled.is_null()) return "  modelled: nothing, as there is no profile\n";
  std::string text = fmt::format("  modelled: {}", watts_text(modelled.at("watts")));
  if (modelled.at("watts").is_null()) {
    text += fmt::format(": {}", word_of(modelled, "why_not"));
  } else {
    text += fmt::format(", {} to {} by its assumptions{}", watts_text(modelled.at("low")),
                        watts_text(modelled.at("high")), joules_text(modelled.at("packet_joules")));
  }
  return text + fmt::format("\n    profile {}, of the {}: {}\n", word_of(modelled, "profile"),
                            word_of(modelled, "scope"), word_of(modelled, "citation", 400));
}

std::string core_text(const Json& core) {
  std::vector<std::string> parts;
  if (!core.at("mhz").is_null())
    parts.push_back(fmt::format("{:.0f} MHz by {}", core.at("mhz").get<double>(), word_of(core, "mhz_by")));
  if (core.contains("residency")) {
    for (const auto& [state, share] : core.at("residency").items()) {
      if (share.get<double>() > 0) parts.push_back(fmt::format("{} {}", state, percent(share)));
    }
  }
  for (const auto& state : core.at("idle_states")) {
    if (state.at("usage") != 0)
      parts.push_back(fmt::format("{} {} us in {} times, {} too short, {} too shallow", word_of(state, "name"),
                                  state.at("time_us").dump(), state.at("usage").dump(), state.at("above").dump(),
                                  state.at("below").dump()));
  }
  std::string text = fmt::format("  core {} of package {}{}: {}\n", core.at("core").dump(), core.at("package").dump(),
                                 core.at("second_thread").get<bool>() ? ", second thread" : "",
                                 parts.empty() ? "nothing is known yet" : fmt::format("{}", fmt::join(parts, "; ")));
  if (core.contains("why_not")) {
    for (const auto& [what, why] : core.at("why_not").items())
      text += fmt::format("    {} not known: {}\n", what, printable(why.get<std::string>(), 300));
  }
  return text;
}

}  // namespace

std::string render_meter(const Json& meter) {
  if (meter.is_null())
    return "\npower: neither measured nor modelled; the section power of the configuration asks for it\n";
  std::string text = "\npower:\n";
  const std::string source = word_of(meter, "source");
  text += fmt::format("  measured: {}\n", source.empty() ? "nothing, as there is no sensor" : "by " + source);
  for (const auto& [name, why] : meter.at("refused").items())
    text += fmt::format("    not {}: {}\n", name, printable(why.get<std::string>(), 300));
  if (const std::string error = word_of(meter, "error", 300); !error.empty())
    text += fmt::format("    the last reading failed: {} ({} so far)\n", error, meter.at("errors").dump());
  for (const auto& each : meter.at("measured"))
    text += fmt::format("    {} ({}): {} now, {} over 20 s{}\n", word_of(each, "name"), word_of(each, "scope"),
                        watts_text(each.at("watts")), watts_text(each.at("mean_watts")),
                        joules_text(each.at("packet_joules")));
  if (!meter.at("wall_watts").is_null())
    text += fmt::format("    at the wall by the power supply's efficiency: {}\n", watts_text(meter.at("wall_watts")));
  text += modelled_text(meter.at("modelled"));
  for (const auto& core : meter.at("cores")) text += core_text(core);
  return text;
}

std::string render_power(const Json& answer) {
  Table table({"worker", "core", "policy", "busy", "polling", "paused", "asleep", "cpu", "sleeps", "ended early"});
  std::string below;
  for (const auto& worker : answer.at("workers")) {
    const std::string name = printable(worker.at("name").get<std::string>(), 32);
    const Json& share = worker.at("share");
    table.add({name, worker.at("core").dump(), worker.at("policy").at("kind").get<std::string>(),
               percent(share.at("busy")), percent(share.at("idle")), percent(share.at("paused")),
               percent(share.at("asleep")), percent(worker.at("cpu_share")), grouped(worker.at("sleeps")),
               grouped(worker.at("wakeups"))});
    below += fmt::format("\n{}: {}\n  interrupts: {}\n  frequency: {}\n", name, policy_text(worker.at("policy")),
                         interrupts_text(worker), frequency_text(worker.at("governor")));
    for (const auto& [key, value] : worker.at("state").items())
      below += fmt::format("  {}: {}\n", printable(key, 40),
                           value.is_number() ? fmt::format("{:.6g}", value.get<double>()) : value.dump());
  }
  if (answer.contains("meter")) below += render_meter(answer.at("meter"));
  return table.to_string() + below;
}

std::string kinds_table(bool markdown) {
  Table table({"policy", "setting", "default", "range", "meaning"});
  std::string lines = "| policy | setting | default | range | meaning |\n|---|---|---|---|---|\n";
  for (const auto& row : power::kSettings) {
    const auto kind = power::kKindNames[static_cast<std::size_t>(row.kind)];
    const std::string usual = fmt::format("{}", row.get({}));
    lines += fmt::format("| `{}` | `{}` | {} | {} | {} |\n", kind, row.name, usual, range(row), row.help);
    table.add({std::string(kind), std::string(row.name), usual, range(row), std::string(row.help)});
  }
  return markdown ? lines : table.to_string();
}

Json kinds_json() {
  Json kinds = Json::object();
  for (std::size_t k = 0; k < power::kKindNames.size(); ++k) {
    Json& settings = kinds[std::string(power::kKindNames[k])] = Json::object();
    for (const auto& row : power::settings_of(static_cast<power::Kind>(k)))
      settings[std::string(row.name)] = {
          {"default", row.get({})}, {"min", row.min}, {"max", row.max}, {"whole", row.whole}, {"help", row.help}};
  }
  return kinds;
}

}  // namespace splitplane::app

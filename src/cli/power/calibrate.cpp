#include "cli/power/calibrate.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <thread>

#include "base/plain_file.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/command/ask.h"
#include "cli/power/loop_costs.h"
#include "cli/power/machine_power.h"
#include "power/calibrate/sweep.h"
#include "power/governor/governor.h"
#include "power/profiles/profile_file.h"
#include "power/replay/costs.h"
#include "power/sensor/topology.h"
#include "runtime/instance_lock.h"

namespace splitplane::app {
namespace {

using power::calibrate::Cost;
using power::calibrate::Point;

struct CalibrateOptions : InstancePlace {
  power::calibrate::CostSettings costs;
  std::string worker, sensor = "none", fit, scope = "system", name = "calibrated", profile;
  double over_s = 2, settle_s = 3, mean_s = 20;
  unsigned cores = 0;
  bool json = false;
};

int refuse(CliOutput& output, const std::string& sentence, int code = kExitFailed) {
  output.err << "splitplane power: " << printable(sentence, 500) << '\n';
  return code;
}

Expected<LoopLook> look(ControlClient& client) {
  auto power = client.call("power.show");
  if (!power) return tl::unexpected(power.error());
  auto stats = client.call("stats");
  if (!stats) return tl::unexpected(stats.error());
  return LoopLook{.power = *std::move(power), .stats = *std::move(stats)};
}

// What nothing here measures stays as the simulated core assumes it.
void add_assumed(std::vector<Cost>& costs) {
  const power::replay::Costs assumed;
  power::replay::each_cost(assumed, [&](const char* name, std::uint64_t value, std::string_view) {
    const bool known = std::any_of(costs.begin(), costs.end(), [&](const Cost& cost) { return cost.name == name; });
    if (!known) costs.push_back({name, std::nullopt, fmt::format("not measured; assumed: {}", value)});
  });
}

std::string costs_text(const std::vector<Cost>& costs) {
  Table table({"cost", "ns", "how"});
  for (const Cost& cost : costs)
    table.add({cost.name, cost.ns ? fmt::format("{}", *cost.ns) : "-", printable(cost.how, 300)});
  return table.to_string() + "\n" + power::calibrate::cost_words(costs) + "\n";
}

Json costs_json(const std::vector<Cost>& costs) {
  Json rows = Json::object();
  for (const Cost& cost : costs)
    rows[cost.name] = {{"ns", cost.ns ? Json(*cost.ns) : Json(nullptr)}, {"how", cost.how}};
  return rows;
}

// First threads of the package of the first core, at most `most` of them; 0: all.
Expected<std::vector<unsigned>> cores_for(const std::string& root, unsigned most) {
  const auto places = sensor::read_topology(root);
  if (!places) return tl::unexpected(places.error());
  std::vector<unsigned> cores;
  for (const sensor::CpuPlace& place : *places) {
    if (place.package == places->front().package && !place.second_thread) cores.push_back(place.cpu);
  }
  if (most != 0 && most < cores.size()) cores.resize(most);
  return cores;
}

// A governor for each core, while the sweep runs. Empty: the frequency of one of them cannot be set.
std::vector<std::unique_ptr<governor::Governor>> governors_for(const std::string& root,
                                                               const std::vector<unsigned>& cores) {
  std::vector<std::unique_ptr<governor::Governor>> all;
  for (const unsigned core : cores) {
    all.push_back(std::make_unique<governor::Governor>(
        governor::GovernorSettings{.root = root, .loans = runtime_directory(), .core = core}));
    if (all.back()->p_states() < 2) return {};
  }
  return all;
}

Expected<power::model::Profile> fit(const CalibrateOptions& o, CliOutput& output) {
  auto chosen = sensor::choose_source(o.sensor, {.root = o.costs.root});
  if (!chosen) return tl::unexpected(chosen.error());
  if (!chosen->source) {
    std::string why;
    for (const auto& refused : chosen->refused) why += fmt::format("; {}: {}", refused.source, refused.why);
    return fail("--fit needs a sensor{}", why);
  }
  const auto cores = cores_for(o.costs.root, o.cores);
  if (!cores) return tl::unexpected(cores.error());
  const auto governors = governors_for(o.costs.root, *cores);
  power::calibrate::SweepSettings settings{
      .cores = *cores, .scope = o.scope, .settle_s = o.settle_s, .mean_s = o.mean_s};
  if (!governors.empty()) {
    settings.khz = governors.front()->khz();
    if (governors.front()->turbo())
      settings.khz.erase(settings.khz.begin());  // how fast it is depends on the neighbors
    const unsigned first = governors.front()->turbo() ? 1 : 0;
    settings.set_frequency = [&governors, first](unsigned p_state) {
      return std::ranges::all_of(governors, [&](const auto& each) { return each->take(first + p_state, 0); });
    };
    if (first == 1 && !settings.set_frequency(0)) return fail("{} kHz is refused", settings.khz.front());
  }
  const auto points = power::calibrate::sweep(settings, *chosen->source, [&](const std::string& step) {
    output.err << "splitplane power: " << step << '\n' << std::flush;
  });
  if (!points) return tl::unexpected(points.error());
  auto profile = power::calibrate::fit_profile(*points, settings.khz.empty() ? 0 : settings.khz.front() / 1e3);
  if (!profile) return profile;
  profile->name = o.name;
  profile->scope = o.scope;
  profile->citation = fmt::format("measured here by {}, {} s a step", chosen->source->name(), o.mean_s);
  if (governors.empty()) profile->note = "The frequency could not be set, so it holds for that of the machine only.";
  return profile;
}

int write_fit(const CalibrateOptions& o, CliOutput& output) {
  if (const auto refused = refuse_result_path(o.fit))
    return refuse(output, fmt::format("--fit {}: {}", o.fit, *refused), kExitBadUsage);
  const auto profile = fit(o, output);
  if (!profile) return refuse(output, profile.error().message);
  std::ofstream file(o.fit);
  file << profile_text(*profile);
  file.close();
  if (!file) return refuse(output, fmt::format("--fit {}: cannot be written", o.fit));
  output.out << fmt::format("profile {}: at most {:.2f} W from its {} points; in {}\n", profile->name,
                            profile->fit->max_watts, profile->fit->points, printable(o.fit, 200));
  return kExitGood;
}

int calibrate(const CalibrateOptions& o, CliOutput& output) {
  if (!o.fit.empty()) return write_fit(o, output);
  std::vector<Cost> costs;
  if (!o.config.empty() || !o.socket.empty() || !o.instance.empty()) {
    const int asked = ask_control(o, "splitplane power", output, [&](ControlClient& client) -> Expected<std::string> {
      const auto before = look(client);
      if (!before) return tl::unexpected(before.error());
      std::this_thread::sleep_for(std::chrono::duration<double>(o.over_s));
      const auto now = look(client);
      if (!now) return tl::unexpected(now.error());
      auto of_loop = loop_costs(*before, *now, o.worker);
      if (!of_loop) return tl::unexpected(of_loop.error());
      costs = *std::move(of_loop);
      return std::string();
    });
    if (asked != kExitGood) return asked;
  }
  const auto measured = power::calibrate::measure_costs(o.costs);
  if (!measured) return refuse(output, measured.error().message);
  costs.insert(costs.end(), measured->begin(), measured->end());
  add_assumed(costs);
  output.out << (o.json ? costs_json(costs).dump(2) + "\n" : costs_text(costs));
  return kExitGood;
}

int sensors(const CalibrateOptions& o, CliOutput& output) {
  const auto machine = look_at_machine({.root = o.costs.root}, o.profile);
  if (!machine) return refuse(output, machine.error().message, kExitBadUsage);
  output.out << (o.json ? machine->dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"
                        : render_machine(*machine));
  return kExitGood;
}

void add_calibrate_options(CLI::App& command, CalibrateOptions& o) {
  add_instance_options(
      command, o,
      command.add_option("CONFIG", o.config,
                         "The instance that runs this configuration: a worker of it gives the costs of its loop"));
  command.add_option("--worker", o.worker, "That worker; default: the one with most rounds");
  command.add_option("--over", o.over_s, "Seconds for which the worker is looked at")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 3600.0));
  command.add_option("--core", o.costs.core, "Where sleeps are measured")
      ->capture_default_str()
      ->check(CLI::Range(0, 8191));
  command
      .add_option("--waker", o.costs.waker,
                  "Where the thread runs that wakes it; the same core: interrupts are not measured")
      ->capture_default_str()
      ->check(CLI::Range(0, 8191));
  command.add_option("--fit", o.fit, "Instead, loads cores, reads a sensor, and writes a power profile to this file");
  command.add_option("--sensor", o.sensor, std::string(sensor::kSourceWords))->capture_default_str();
  command.add_option("--scope", o.scope, "Of the sensor's readings: system or package")
      ->capture_default_str()
      ->check(CLI::IsMember({"system", "package"}));
  command.add_option("--cores", o.cores, "With --fit: how many cores; 0: all of a package")->capture_default_str();
  command.add_option("--settle", o.settle_s, "With --fit: seconds that are left out at each step")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 600.0));
  command.add_option("--mean", o.mean_s, "With --fit: seconds that the mean of a step is of")
      ->capture_default_str()
      ->check(CLI::Range(0.2, 3600.0));
  command.add_option("--name", o.name, "With --fit: the name of the profile")->capture_default_str();
}

}  // namespace

void add_power_calibrate(CLI::App& power, std::function<int(CliOutput&)>& action) {
  const auto o = std::make_shared<CalibrateOptions>();
  if (std::thread::hardware_concurrency() < 2) o->costs.waker = 0;
  CLI::App* command =
      power.add_subcommand("calibrate", "Measures the costs of the simulated core, or fits a power profile");
  add_calibrate_options(*command, *o);
  command->footer(
      "Example:\n  splitplane power calibrate\n  splitplane power calibrate config/demo.yaml\n"
      "  splitplane power calibrate --fit mine.yaml --sensor auto");
  command->callback([o, &action] { action = [o](CliOutput& output) { return calibrate(*o, output); }; });

  CLI::App* machine = power.add_subcommand("sensors", "What of power this machine can measure and set");
  machine->add_option("--profile", o->profile, "A power profile to show, too");
  machine->footer("Example:\n  splitplane power sensors --profile config/power/ssp2022.yaml");
  machine->callback([o, &action] { action = [o](CliOutput& output) { return sensors(*o, output); }; });
  for (CLI::App* each : {command, machine}) {
    each->add_option("--sysfs-root", o->costs.root, "Where sysfs is")->capture_default_str();
    each->add_flag("--json", o->json, "JSON for machines");
  }
}

}  // namespace splitplane::app

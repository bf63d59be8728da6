#include "cli/power/machine_power.h"

#include <chrono>
#include <cmath>
#include <thread>

#include "base/text.h"
#include "power/governor/frequencies.h"
#include "power/governor/sysfs.h"
#include "power/profiles/profile_file.h"
#include "power/sensor/c_states.h"
#include "power/sensor/frequency.h"
#include "power/sensor/read_value.h"
#include "power/sensor/topology.h"

namespace splitplane::app {
namespace {

using namespace std::chrono_literals;

std::uint64_t steady_now_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

// Counters of energy need two looks.
Json sensor_row(std::string_view name, const sensor::SensorSettings& settings) {
  Json row{{"source", std::string(name)}};
  const auto refuse = [&](const Error& error) {
    row["why_not"] = error.message;
    return row;
  };
  auto source = sensor::open_source(name, settings);
  if (!source) return refuse(source.error());
  auto readings = (*source)->sample(steady_now_ns());
  if (readings && !readings->empty() && std::isnan(readings->front().watts)) {
    std::this_thread::sleep_for(200ms);
    readings = (*source)->sample(steady_now_ns());
  }
  if (!readings) return refuse(readings.error());
  row["readings"] = Json::array();
  for (const sensor::Reading& reading : *readings)
    row["readings"].push_back({{"scope", reading.scope},
                               {"name", reading.name},
                               {"watts", std::isnan(reading.watts) ? Json(nullptr) : Json(reading.watts)}});
  return row;
}

Json governors_of(const std::string& root, unsigned core) {
  const std::string cpu = fmt::format("{}/devices/system/cpu/cpu{}", root, core), cpufreq = cpu + "/cpufreq";
  Json row;
  if (const auto frequencies = governor::read_frequencies(cpufreq)) {
    row["cpufreq"] = fmt::format("{} P-states of {}, {} to {} MHz", frequencies->khz.size(), frequencies->driver,
                                 frequencies->khz.front() / 1000, frequencies->khz.back() / 1000);
  } else {
    row["cpufreq"] = frequencies.error().message;
  }
  const auto file = [&](const char* name, const std::string& path) {
    const auto text = sensor::read_text(path);
    row[name] = text ? *text : text.error().message;
  };
  file("epp", cpufreq + "/energy_performance_preference");
  file("pm_qos", cpu + "/power/pm_qos_resume_latency_us");
  return row;
}

Json core_row(const sensor::CpuPlace& place, const std::string& root) {
  Json row{{"core", place.cpu}, {"package", place.package}, {"second_thread", place.second_thread}};
  row["governors"] = governors_of(root, place.cpu);
  const auto frequency = sensor::CoreFrequency::open(root, place.cpu, 0);
  row["frequency"] = frequency ? frequency->how() : frequency.error().message;
  const auto states = sensor::read_c_states(root, place.cpu);
  if (!states) {
    row["idle"] = states.error().message;
    return row;
  }
  row["idle"] = Json::array();
  for (const sensor::CState& state : *states)
    row["idle"].push_back({{"name", state.name},
                           {"time_us", state.time_us},
                           {"usage", state.usage},
                           {"above", state.above},
                           {"below", state.below},
                           {"latency_us", state.latency_us},
                           {"disabled", state.disabled}});
  return row;
}

std::string idle_text(const Json& idle) {
  if (idle.is_string()) return printable(idle.get<std::string>(), 200);
  std::vector<std::string> parts;
  for (const Json& state : idle)
    parts.push_back(fmt::format("{}{} ({} us to leave)", printable(state.at("name").get<std::string>(), 32),
                                state.at("disabled").get<bool>() ? " off" : "", state.at("latency_us").dump()));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Cores that are alike are one line: "0-3".
std::string cores_text(const Json& cores) {
  std::string text;
  std::string last;
  unsigned first = 0, before = 0;
  const auto flush = [&] {
    if (last.empty()) return;
    text += first == before ? fmt::format("core {}:\n{}", first, last)
                            : fmt::format("cores {} to {}:\n{}", first, before, last);
  };
  for (const Json& core : cores) {
    std::string lines = fmt::format("  package: {}{}\n  frequency is read by: {}\n", core.at("package").dump(),
                                    core.at("second_thread").get<bool>() ? ", second thread" : "",
                                    printable(core.at("frequency").get<std::string>(), 300));
    for (const auto& [name, how] : core.at("governors").items())
      lines += fmt::format("  {}: {}\n", name, printable(how.get<std::string>(), 200));
    lines += fmt::format("  idle states: {}\n", idle_text(core.at("idle")));
    // The number of a core stands in the paths of messages, too.
    const auto number = core.at("core").get<unsigned>();
    std::string alike = lines;
    for (const std::string& mark : {fmt::format("cpu{}/", number), fmt::format("cpu/{}/", number)}) {
      for (std::size_t at = 0; (at = alike.find(mark)) != std::string::npos;)
        alike.replace(at, mark.size(), mark.starts_with("cpu/") ? "cpu/N/" : "cpuN/");
    }
    if (alike != last) {
      flush();
      last = alike;
      first = number;
    }
    before = number;
  }
  flush();
  return text;
}

}  // namespace

Expected<Json> look_at_machine(const sensor::SensorSettings& settings, const std::string& profile) {
  Json machine{{"sensors", Json::array()}, {"cores", Json::array()}, {"profile", nullptr}};
  if (!profile.empty()) {
    const auto read = load_profile(profile);
    if (!read) return tl::unexpected(read.error());
    machine["profile"] = {{"name", read->name},         {"machine", read->machine}, {"scope", read->scope},
                          {"citation", read->citation}, {"note", read->note},       {"assumed", read->assumed}};
    machine["profile"]["fit_max_watts"] = read->fit ? Json(read->fit->max_watts) : Json(nullptr);
  }
  for (const std::string_view name : sensor::kSourceNames) machine["sensors"].push_back(sensor_row(name, settings));
  if (const auto places = sensor::read_topology(settings.root)) {
    for (const sensor::CpuPlace& place : *places) machine["cores"].push_back(core_row(place, settings.root));
  } else {
    machine["why_no_cores"] = places.error().message;
  }
  return machine;
}

std::string render_machine(const Json& machine) {
  std::string text = "sensors:\n";
  for (const Json& sensor : machine.at("sensors")) {
    const auto name = sensor.at("source").get<std::string>();
    if (sensor.contains("why_not"))
      text += fmt::format("  {}: no: {}\n", name, printable(sensor.at("why_not").get<std::string>(), 300));
    for (const Json& reading : sensor.value("readings", Json::array()))
      text += fmt::format(
          "  {}: {} ({}): {}\n", name, printable(reading.at("name").get<std::string>(), 60),
          reading.at("scope").get<std::string>(),
          reading.at("watts").is_null() ? "no watts yet" : fmt::format("{:.1f} W", reading.at("watts").get<double>()));
  }
  text += "  file:PATH, command:COMMAND: a meter that you name\n";
  text += cores_text(machine.at("cores"));
  if (machine.contains("why_no_cores"))
    text += fmt::format("cores: not known: {}\n", printable(machine.at("why_no_cores").get<std::string>(), 300));
  if (const Json& profile = machine.at("profile"); !profile.is_null()) {
    const auto line = [&](const char* key) { return printable(profile.at(key).get<std::string>(), 500); };
    text += fmt::format("profile {}, of the {}: {}\n  {}\n  {}\n", line("name"), line("scope"), line("machine"),
                        line("citation"), line("note"));
    text += fmt::format("  error of its fit: {}\n",
                        profile.at("fit_max_watts").is_null()
                            ? "not known"
                            : fmt::format("at most {} W at its points", profile.at("fit_max_watts").get<double>()));
    text +=
        fmt::format("  assumed: {}\n",
                    profile.at("assumed").empty()
                        ? "nothing"
                        : fmt::format("{}", fmt::join(profile.at("assumed").get<std::vector<std::string>>(), ", ")));
  }
  return text;
}

}  // namespace splitplane::app

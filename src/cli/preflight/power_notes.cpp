#include "cli/preflight/power_notes.h"

#include <algorithm>

#include "power/governor/frequencies.h"
#include "power/kind_facts.h"
#include "power/profiles/profile_file.h"
#include "power/sensor/choose.h"
#include "runtime/config/device.h"
#include "runtime/config/lookup.h"

namespace splitplane::app {
namespace {

// Those of DPDK 22.11 whose packets nothing announces. Whether a PCI device's driver does is known only once the device
// is open.
bool never_interrupts(Driver driver) {
  switch (driver) {
    case Driver::kVhost:
    case Driver::kVirtioUser:
    case Driver::kTap:
    case Driver::kPci:
      return false;
    default:
      return true;
  }
}

// The ports of it that the worker polls and that announce nothing.
std::vector<std::string> silent_ports(const GnbConfig& config, const WorkerConfig& worker) {
  std::vector<std::string> names;
  for (const std::string& name : {worker.n3, worker.air, worker.rx}) {
    const PortConfig* port = find_port(config, name);
    if (port == nullptr) continue;
    const auto device = parse_device(port->device);
    if (device && never_interrupts(device->driver)) names.push_back(name);
  }
  return names;
}

// A user's own command is not run by who only looks.
void note_meter(const GnbConfig& config, std::vector<std::string>& notes) {
  const PowerConfig& power = *config.power;
  if (!power.sensor.starts_with("command:")) {
    const auto chosen = sensor::choose_source(power.sensor, {.root = config.sysfs_root});
    if (!chosen) {
      notes.push_back(fmt::format("power: {}; so it would not start", chosen.error().message));
    } else if (!chosen->source && power.sensor == "auto") {
      notes.emplace_back("power: auto finds no sensor; `splitplane power sensors` says why");
    }
  }
  if (power.profile.empty()) return;
  if (const auto profile = load_profile(power.profile); !profile)
    notes.push_back(fmt::format("power: {}; so it would not start", profile.error().message));
}

}  // namespace

std::vector<std::string> power_notes(const GnbConfig& config) {
  std::vector<std::string> notes;
  if (config.power) note_meter(config, notes);
  const bool sets = !config.power || config.power->governor != governor::Kind::none;
  for (const WorkerConfig& worker : config.workers) {
    const power::Kind kind = worker.policy.kind;
    if (!power::sets_frequencies(kind)) continue;
    const std::string who =
        fmt::format("worker {}: policy {}", worker.name, power::kKindNames[static_cast<std::size_t>(kind)]);
    const std::string cpufreq = fmt::format("{}/devices/system/cpu/cpu{}/cpufreq", config.sysfs_root, worker.core);
    if (const auto found = governor::read_frequencies(cpufreq); sets && !found)
      notes.push_back(fmt::format("{}: its core's frequency stays as it is: {}", who, found.error().message));
    const auto silent = silent_ports(config, worker);
    if (!silent.empty())
      notes.push_back(fmt::format("{}: no interrupt from port{} {}: {}", who, silent.size() == 1 ? "" : "s",
                                  fmt::join(silent, ", "), power::without_interrupts(kind)));
  }
  return notes;
}

}  // namespace splitplane::app

// For tests only: a program with one worker, w0, whose policy is in memory, behind the methods power.*.
#pragma once

#include <functional>
#include <string>

#include "power/settings_json.h"
#include "runtime/power_methods.h"

namespace splitplane::app {

class MemoryPower {
 public:
  Expected<Json> show() {
    asleep_cycles += 60;  // since the last look, beside 20 busy and 20 idle ones
    const std::uint64_t others = asleep_cycles / 3;
    return Json::array({{{"name", "w0"},
                         {"core", 3},
                         {"policy", to_json(power)},
                         {"state", {{"rate", 1234.5}}},
                         {"queues_without_interrupt", Json::array()},
                         {"governor", nullptr},
                         {"sleeps", 1000},
                         {"wakeups", 7},
                         {"cpu_cycles", others},
                         {"cycles", {{"busy", others}, {"idle", others}, {"paused", 0}, {"asleep", asleep_cycles}}}}});
  }
  Expected<Json> set(const std::string& worker, const power::Settings& settings) {
    if (worker != "w0") return fail("worker: there is no '{}'; allowed: w0", worker);
    power_of = worker;
    power = settings;
    return Json{{"name", worker}, {"policy", to_json(settings)}};
  }
  // This must outlive the registry.
  void add_methods(MethodRegistry& registry) {
    registry.add("power.show", power_show(std::bind_front(&MemoryPower::show, this)));
    registry.add("power.set", power_set(std::bind_front(&MemoryPower::set, this)));
  }

  std::uint64_t asleep_cycles = 0;
  std::string power_of;  // the worker of the last power.set, and what was set
  power::Settings power;
};

}  // namespace splitplane::app

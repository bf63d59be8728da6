#include "runtime/power_view.h"

#include "engine/cpu_time.h"
#include "power/settings_table.h"

namespace splitplane::app {

nlohmann::json view_of(const datapath::WorkerPower& power, const datapath::WorkerStats& stats) {
  const power::Machine& machine = power.machine();
  const auto us = [&](power::Ticks ticks) {
    return static_cast<double>(ticks) / static_cast<double>(machine.ticks_per_us);
  };
  nlohmann::json state = nlohmann::json::object();
  power.show([&](const char* name, double value) { state[name] = value; });
  return {{"policy", to_json(power.settings())},
          {"state", std::move(state)},
          {"queues", machine.queues},
          {"interrupts", machine.interrupts},
          {"queues_without_interrupt", power.queues_without_interrupt()},
          {"timed_pause", machine.timed_pause},
          {"sleep_overshoot_us", us(machine.sleep_overshoot)},
          {"rounds", stats.rounds.get()},
          {"sleeps", stats.sleeps.get()},
          {"wakeups", stats.wakeups.get()},
          {"pauses", stats.pauses.get()},
          {"p_state_changes", stats.p_state_changes.get()},
          {"cpu_cycles", datapath::thread_cpu_time()},
          {"cycles",
           {{"busy", stats.busy_cycles.get()},
            {"idle", stats.idle_cycles.get()},
            {"paused", stats.paused_cycles.get()},
            {"asleep", stats.asleep_cycles.get()}}}};
}

nlohmann::json view_of(const governor::Governor* governor) {
  if (governor == nullptr) return nullptr;
  nlohmann::json json{
      {"p_states", governor->p_states()}, {"writes", governor->writes()}, {"errors", governor->errors()}};
  if (!governor->why_not().empty()) {
    json["reason"] = governor->why_not();
  } else {
    json["driver"] = governor->driver();
    json["p_state"] = governor->p_state();
    json["khz"] = governor->khz();
    json["turbo"] = governor->turbo();
  }
  return json;
}

}  // namespace splitplane::app

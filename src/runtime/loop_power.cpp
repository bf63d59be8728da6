// The power policy of a loop: see loop_power.h.
#include "runtime/loop_power.h"

#include <rte_cycles.h>

#include "base/log.h"
#include "power/kind_facts.h"
#include "power/rte/rte_power.h"
#include "runtime/instance_lock.h"
#include "runtime/power_view.h"

namespace splitplane::app {
namespace {

// Empty if the frequency cannot be set. `governor` outlives the worker's use of it.
datapath::PStates p_states_of(governor::Governor* governor) {
  if (governor == nullptr || governor->p_states() < 2) return {};
  const auto speed = governor->speed();
  return {.speed = {speed.begin(), speed.begin() + governor->p_states()},
          .take = [governor](unsigned p_state) { return governor->take(p_state, rte_rdtsc()); }};
}

// `budget` says how long a packet may wait. So it cannot use a sleep state from which the core needs longer to wake.
void bound_wake_up(governor::Governor& governor, const power::Settings& settings, const std::string& worker) {
  if (settings.kind != power::Kind::budget) return governor.free_wake_up();
  if (const auto bound = governor.bound_wake_up(settings.budget.latency_us); !bound)
    log::info("worker {}: how long its core takes to wake up has no bound: {}", worker, bound.error().message);
}

}  // namespace

void LoopPower::prepare(const power::Settings& wanted) const {
  if (!power::sets_frequencies(wanted.kind)) return;
  if (!governor) {
    governor =
        std::make_unique<governor::Governor>(governor::GovernorSettings{.root = sysfs_root,
                                                                        .loans = runtime_directory(),
                                                                        .core = core,
                                                                        .ticks_per_us = rte_get_tsc_hz() / 1'000'000,
                                                                        .kind = governor_kind,
                                                                        .rte_power = governor::make_rte_power});
    if (governor->p_states() > 1) {
      log::info("worker {}: sets the frequency of core {}: {} P-states of {}", name, core, governor->p_states(),
                governor->driver());
    } else {
      log::info("worker {}: its core's frequency stays as it is: {}", name, governor->why_not());
    }
  }
  bound_wake_up(*governor, wanted, name);
}

// Gives back what the present policy no longer needs.
void LoopPower::settle() const {
  if (!power::sets_frequencies(settings.kind)) {
    governor.reset();
  } else if (governor) {
    bound_wake_up(*governor, settings, name);
  }
}

void LoopPower::park_core() const {
  if (governor) governor->free_wake_up();
}

void LoopPower::start() const {
  prepare(settings);
  power.use(p_states_of(governor.get()));
  power.set(settings);
}

void LoopPower::say_what_cannot_wake() const {
  if (!power::sets_frequencies(settings.kind)) return;
  const auto without = std::make_shared<std::vector<std::string>>();
  const bool done = execute([without, p = &power] { *without = p->queues_without_interrupt(); });
  if (!done || without->empty()) return;
  log::info("worker {}: no interrupt from {}: {}", name, fmt::join(*without, ", "),
            power::without_interrupts(settings.kind));
}

Expected<nlohmann::json> LoopPower::show() const {
  const auto view = std::make_shared<nlohmann::json>();
  const bool done = execute([view, p = &power, s = &stats, g = governor.get()] {
    *view = view_of(*p, *s);
    (*view)["governor"] = view_of(g);
  });
  if (!done) return fail("worker {} does not answer", name);
  (*view)["name"] = name;
  (*view)["core"] = core;
  return std::move(*view);
}

Expected<nlohmann::json> LoopPower::set(const power::Settings& wanted) const {
  prepare(wanted);
  const bool needs = power::sets_frequencies(wanted.kind);
  const auto view = std::make_shared<nlohmann::json>();
  const bool done = execute([p = &power, g = governor.get(), wanted, view, needs] {
    p->use(needs ? p_states_of(g) : datapath::PStates{});
    p->set(wanted);
    if (needs) *view = view_of(g);
  });
  if (done) settings = wanted;
  settle();
  if (!done) return fail("worker {} does not answer; its policy stays as it was", name);
  log::info("worker {}: policy {}", name, power::kKindNames[static_cast<std::size_t>(wanted.kind)]);
  say_what_cannot_wake();
  return nlohmann::json{{"name", name}, {"policy", to_json(wanted)}, {"governor", *view}};
}

}  // namespace splitplane::app

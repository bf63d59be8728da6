// Power policies of the running user plane: shown and switched by each worker between two rounds. The frequency of a
// worker's core is taken while its policy sets frequencies, and given back when it no longer does.
#include <rte_cycles.h>

#include <algorithm>

#include "app/cli_suggest.h"
#include "app/config_check.h"
#include "app/config_notes.h"
#include "app/instance_lock.h"
#include "app/power_view.h"
#include "app/user_plane.h"
#include "base/log.h"

namespace splitplane::app {
namespace {

// Nothing where the frequency cannot be set. `governor` outlives the worker's use of it.
datapath::PStates p_states_of(governor::Governor* governor) {
  if (governor == nullptr || governor->p_states() < 2) return {};
  const auto speed = governor->speed();
  return {.speed = {speed.begin(), speed.begin() + governor->p_states()},
          .take = [governor](unsigned p_state) { return governor->take(p_state, rte_rdtsc()); }};
}

// `budget` says how long a packet may wait, so a sleep from which the core takes longer to come back is none for it.
void bound_wake_up(governor::Governor& governor, const power::Settings& settings, const std::string& worker) {
  if (settings.kind != power::Kind::budget) return governor.free_wake_up();
  if (const auto bound = governor.bound_wake_up(settings.budget.latency_us); !bound)
    log::info("worker {}: how long its core takes to wake up has no bound: {}", worker, bound.error().message);
}

}  // namespace

void UserPlane::prepare_power(WorkerRuntime& worker, const power::Settings& settings) {
  if (!sets_frequencies(settings.kind)) return;
  if (!worker.core_governor) {
    worker.core_governor =
        std::make_unique<governor::Governor>(governor::GovernorSettings{.root = config_.sysfs_root,
                                                                        .loans = runtime_directory(),
                                                                        .core = worker.config.core,
                                                                        .ticks_per_us = rte_get_tsc_hz() / 1'000'000});
    const governor::Governor& g = *worker.core_governor;
    if (g.p_states() > 1) {
      log::info("worker {}: sets the frequency of core {}: {} P-states of {}", worker.config.name, worker.config.core,
                g.p_states(), g.driver());
    } else {
      log::info("worker {}: its core's frequency stays as it is: {}", worker.config.name, g.why_not());
    }
  }
  bound_wake_up(*worker.core_governor, settings, worker.config.name);
}

// What its policy in force needs no more is given back.
void UserPlane::settle_power(WorkerRuntime& worker) {
  const power::Settings& settings = worker.config.policy;
  if (!sets_frequencies(settings.kind)) {
    worker.core_governor.reset();
  } else if (worker.core_governor) {
    bound_wake_up(*worker.core_governor, settings, worker.config.name);
  }
}

void UserPlane::start_power(WorkerRuntime& worker) {
  prepare_power(worker, worker.config.policy);
  worker.power.use(p_states_of(worker.core_governor.get()));
  worker.power.set(worker.config.policy);
}

void UserPlane::say_what_cannot_wake(WorkerRuntime& worker) {
  const power::Kind kind = worker.config.policy.kind;
  if (!sets_frequencies(kind)) return;
  const auto without = std::make_shared<std::vector<std::string>>();
  const bool done = worker.execute([without, w = &worker] { *without = w->power.queues_without_interrupt(); });
  if (!done || without->empty()) return;
  log::info("worker {}: no interrupt from {}: {}", worker.config.name, fmt::join(*without, ", "),
            without_interrupts(kind));
}

Expected<nlohmann::json> UserPlane::show_power() {
  const std::lock_guard guard(mutex_);
  nlohmann::json rows = nlohmann::json::array();
  for (auto& worker : workers_) {
    const auto view = std::make_shared<nlohmann::json>();
    const bool done = worker->execute([view, w = worker.get()] {
      *view = view_of(w->power, w->stats());
      (*view)["governor"] = view_of(w->core_governor.get());
    });
    if (!done) return fail("worker {} does not answer", worker->config.name);
    (*view)["name"] = worker->config.name;
    (*view)["core"] = worker->config.core;
    rows.push_back(std::move(*view));
  }
  return rows;
}

Expected<nlohmann::json> UserPlane::set_power(const std::string& name, const power::Settings& settings) {
  const std::lock_guard guard(mutex_);
  const auto at = std::find_if(workers_.begin(), workers_.end(), [&](const auto& w) { return w->config.name == name; });
  if (at == workers_.end()) {
    std::vector<std::string_view> names;
    for (const auto& worker : workers_) names.emplace_back(worker->config.name);
    return fail("worker: there is no '{}'; allowed: {}", printable(name), comma_list(names));
  }
  WorkerRuntime& worker = **at;
  WorkerConfig changed = worker.config;
  changed.policy = settings;
  for (const auto& other : workers_) {
    if (other.get() == &worker) continue;
    if (const auto refused = refuse_shared_core(changed, other->config)) return fail("kind: {}", *refused);
  }
  prepare_power(worker, settings);
  const bool needs = sets_frequencies(settings.kind);
  const auto governor = std::make_shared<nlohmann::json>();
  const bool done = worker.execute([w = &worker, settings, governor, needs] {
    w->power.use(needs ? p_states_of(w->core_governor.get()) : datapath::PStates{});
    w->power.set(settings);
    if (needs) *governor = view_of(w->core_governor.get());
  });
  if (done) worker.config.policy = settings;
  settle_power(worker);
  if (!done) return fail("worker {} does not answer; its policy stays as it was", name);
  log::info("worker {}: policy {}", name, power::kKindNames[static_cast<std::size_t>(settings.kind)]);
  say_what_cannot_wake(worker);
  return nlohmann::json{{"name", name}, {"policy", to_json(settings)}, {"governor", *governor}};
}

}  // namespace splitplane::app

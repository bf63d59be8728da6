// Power policies of the running user plane (loop_power.h), and which of them may share a core.
#include <algorithm>

#include "base/text.h"
#include "config/check.h"
#include "gnb/control/instance.h"
#include "runtime/loop_power.h"

namespace splitplane::app {

LoopPower UserPlane::power_of(WorkerRuntime& worker) const {
  return {.name = worker.config.name,
          .core = worker.config.core,
          .sysfs_root = config_.sysfs_root,
          .settings = worker.config.policy,
          .governor = worker.core_governor,
          .power = worker.power,
          .stats = worker.stats(),
          .execute = [w = &worker](std::function<void()> command) { return w->execute(std::move(command)); }};
}

Expected<nlohmann::json> UserPlane::show_power() {
  const std::lock_guard guard(mutex_);
  nlohmann::json rows = nlohmann::json::array();
  for (auto& worker : workers_) {
    auto view = power_of(*worker).show();
    if (!view) return view;
    rows.push_back(*std::move(view));
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
  return power_of(worker).set(settings);
}

}  // namespace splitplane::app

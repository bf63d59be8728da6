#include "baas/control/methods.h"

#include <functional>

#include "runtime/power_methods.h"

namespace splitplane::app {

void add_methods(MethodRegistry& registry, BufferingService& service) {
  const auto calls = [&service](auto member) { return std::bind_front(member, &service); };
  registry.add("stats", without_params(calls(&BufferingService::stats)));
  registry.add("power.show", power_show(calls(&BufferingService::show_power)));
  registry.add("power.set", power_set(calls(&BufferingService::set_power)));
}

}  // namespace splitplane::app

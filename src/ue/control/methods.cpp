#include "ue/control/methods.h"

#include <functional>

#include "ran/control/bearer_methods.h"
#include "runtime/power_methods.h"
#include "ue/control/air.h"

namespace splitplane::app {

void add_methods(MethodRegistry& registry, UeSide& side) {
  const auto calls = [&side](auto member) { return std::bind_front(member, &side); };
  registry.add("bearer.list", bearer_list(calls(&UeSide::list_bearers)));
  registry.add("bearer.show", bearer_show(calls(&UeSide::show_bearer)));
  registry.add("stats", without_params(calls(&UeSide::stats)));
  registry.add("air.set", air_set(calls(&UeSide::set_air)));
  registry.add("power.show", power_show(calls(&UeSide::show_power)));
  registry.add("power.set", power_set(calls(&UeSide::set_power)));
}

}  // namespace splitplane::app

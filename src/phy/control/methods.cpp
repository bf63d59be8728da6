#include "phy/control/methods.h"

#include <functional>

#include "phy/control/loss.h"
#include "ran/control/bearer_methods.h"

namespace splitplane::app {

void add_methods(MethodRegistry& registry, PhyInstance& instance) {
  const auto calls = [&instance](auto member) { return std::bind_front(member, &instance); };
  registry.add("bearer.list", bearer_list(calls(&PhyInstance::list_bearers)));
  registry.add("bearer.show", bearer_show(calls(&PhyInstance::show_bearer)));
  registry.add("stats", without_params(calls(&PhyInstance::stats)));
  registry.add("air.set", loss_set(calls(&PhyInstance::set_loss)));
}

}  // namespace splitplane::app

// The methods that `splitplane phy` serves on its control socket.
#pragma once

#include "control/registry.h"
#include "phy/control/instance.h"

namespace splitplane::app {

// `instance` must outlive the registry.
void add_methods(MethodRegistry& registry, PhyInstance& instance);

}  // namespace splitplane::app

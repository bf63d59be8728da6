// The methods that a card serves on its control socket.
#pragma once

#include "card/control/instance.h"
#include "control/registry.h"

namespace splitplane::app {

// `card` must outlive the registry.
void add_methods(MethodRegistry& registry, CardPlane& card);

}  // namespace splitplane::app

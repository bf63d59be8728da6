// The methods that the UE side serves on its control socket.
#pragma once

#include "control/registry.h"
#include "ue/control/instance.h"

namespace splitplane::app {

// `side` must outlive the registry.
void add_methods(MethodRegistry& registry, UeSide& side);

}  // namespace splitplane::app

// What the buffering service serves on its control socket.
#pragma once

#include "baas/control/service.h"
#include "control/registry.h"

namespace splitplane::app {

void add_methods(MethodRegistry& registry, BufferingService& service);

}  // namespace splitplane::app

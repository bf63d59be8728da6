// The methods that the gNB serves on its control socket.
#pragma once

#include "control/registry.h"
#include "gnb/control/instance.h"

namespace splitplane::app {

// `gnb` must outlive the registry.
void add_methods(MethodRegistry& registry, gnb::Instance& gnb);

}  // namespace splitplane::app

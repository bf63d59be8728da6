// The methods of placement in the control protocol: where bearers live, and moving them.
#pragma once

#include "control/registry.h"
#include "gnb/control/instance.h"

namespace splitplane::gnb {

void add_place_methods(app::MethodRegistry& registry, Instance& gnb);

}  // namespace splitplane::gnb

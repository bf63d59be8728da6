// The methods of placement in the control protocol: where bearers live, why, and moving them.
#pragma once

#include "control/registry.h"
#include "gnb/place/placing.h"

namespace splitplane::gnb {

// `placing` outlives the registry.
void add_place_methods(app::MethodRegistry& registry, Placing& placing);

}  // namespace splitplane::gnb

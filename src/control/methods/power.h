// The control protocol's methods for power policies: power.show, and power.set with the keys of a worker's policy in
// the configuration.
#pragma once

#include "control/methods/backend.h"
#include "control/params.h"

namespace splitplane::app {

Expected<Json> power_show_method(Params& params, ControlBackend& backend);
Expected<Json> power_set_method(Params& params, ControlBackend& backend);

}  // namespace splitplane::app

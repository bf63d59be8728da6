// The control protocol's method for the air between gNB and UE side: air.set, with the keys of ue.air in the
// configuration.
#pragma once

#include "control/methods/backend.h"
#include "control/params.h"

namespace splitplane::app {

Expected<Json> air_set_method(Params& params, ControlBackend& backend);

}  // namespace splitplane::app

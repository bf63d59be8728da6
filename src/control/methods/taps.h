// The control protocol's methods for taps: tap.on, tap.off, tap.list.
#pragma once

#include "control/methods/backend.h"
#include "control/params.h"

namespace splitplane::app {

Expected<Json> tap_on_method(Params& params, ControlBackend& backend);
Expected<Json> tap_off_method(Params& params, ControlBackend& backend);
Expected<Json> tap_list_method(Params& params, ControlBackend& backend);

}  // namespace splitplane::app

#include "control/methods/taps.h"

#include "config/taps.h"

namespace splitplane::app {

Expected<Json> tap_on_method(Params& params, ControlBackend& backend) {
  const tap::Settings settings = read_tap(params);
  if (const auto fault = params.fault()) return fail("{}", *fault);
  return backend.tap_on(settings);
}

Expected<Json> tap_off_method(Params& params, ControlBackend& backend) {
  params.require("name");
  const std::string name = params.text("name").value_or("");
  if (const auto fault = params.fault()) return fail("{}", *fault);
  return backend.tap_off(name);
}

Expected<Json> tap_list_method(Params& params, ControlBackend& backend) {
  if (const auto fault = params.fault()) return fail("{}", *fault);
  return backend.list_taps();
}

}  // namespace splitplane::app

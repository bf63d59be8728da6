#include "runtime/tap_methods.h"

#include <utility>

#include "control/field_params.h"
#include "tap/settings_fields.h"

namespace splitplane::app {

MethodRegistry::Handler tap_on(std::function<Expected<Json>(const tap::Settings& settings)> start) {
  return [start = std::move(start)](Params& params) -> Expected<Json> {
    tap::Settings settings;
    (void)read_fields(params, tap::settings_fields(), settings);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return start(settings);
  };
}

Json to_json(const tap::Settings& tap) {
  Json json;
  write_fields(json, tap::settings_fields(), tap);
  if (tap.max_mb == 0) json.erase("max_mb");
  if (tap.files == 1) json.erase("files");
  return json;
}

MethodRegistry::Handler tap_off(std::function<Expected<Json>(const std::string& name)> end) {
  return [end = std::move(end)](Params& params) -> Expected<Json> {
    params.require("name");
    const std::string name = params.text("name").value_or("");
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return end(name);
  };
}

}  // namespace splitplane::app

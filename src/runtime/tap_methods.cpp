#include "runtime/tap_methods.h"

#include <utility>

#include "config/taps.h"

namespace splitplane::app {

MethodRegistry::Handler tap_on(std::function<Expected<Json>(const tap::Settings& settings)> start) {
  return [start = std::move(start)](Params& params) -> Expected<Json> {
    const tap::Settings settings = read_tap(params);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return start(settings);
  };
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

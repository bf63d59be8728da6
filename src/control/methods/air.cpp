#include "control/methods/air.h"

namespace splitplane::app {
namespace {

AirPatch::Values read_direction(Params& params, std::string_view direction) {
  AirPatch::Values values;
  if (auto members = params.object(direction)) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const phy::ImpairmentRow& row = phy::kImpairments[i];
      values[i] = members->number(row.name, row.min, row.max);
    }
    if (const auto fault = members->fault()) params.refuse(direction, *fault);
  }
  return values;
}

}  // namespace

Expected<Json> air_set_method(Params& params, ControlBackend& backend) {
  AirPatch patch;
  patch.downlink = read_direction(params, "downlink");
  patch.uplink = read_direction(params, "uplink");
  if (const auto fault = params.fault()) return fail("{}", *fault);
  return backend.set_air(patch);
}

}  // namespace splitplane::app

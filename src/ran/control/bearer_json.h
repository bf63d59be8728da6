// Bearers in the control protocol, with the same key names as the configuration file.
#pragma once

#include "control/params.h"
#include "ran/bearer_view.h"
#include "ran/control/bearer_requests.h"

namespace splitplane::app {

[[nodiscard]] Json to_json(const ran::BearerConfig& bearer);
[[nodiscard]] Json to_json(const BearerView& view);
[[nodiscard]] Expected<ran::BearerConfig> bearer_from_json(const Json& json);

// By the rows of ran/bearer_fields.h.
[[nodiscard]] ran::BearerConfig read_bearer(Params& params);
[[nodiscard]] BearerPatch read_patch(Params& params);

}  // namespace splitplane::app

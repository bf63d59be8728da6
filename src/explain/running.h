// What `splitplane explain --running` takes from the instance that runs the configuration.
#pragma once

#include "control/client.h"
#include "explain/plane.h"

namespace splitplane::app {

// Replaces the bearers of `config` by those that the instance serves now, under their identities. Returns the MAC
// addresses that it has found for its UPFs.
[[nodiscard]] Expected<ExplainPlane::Neighbors> take_from_running(ControlClient& client, GnbConfig& config);

}  // namespace splitplane::app

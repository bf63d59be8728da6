// The control protocol's methods of a card: what a host installs on it, and asks it. docs/nic.md has the members.
#pragma once

#include "control/methods/backend.h"
#include "control/params.h"

namespace splitplane::app {

Expected<Json> card_show_method(Params& params, ControlBackend& backend);
Expected<Json> card_install_method(Params& params, ControlBackend& backend);
Expected<Json> card_remove_method(Params& params, ControlBackend& backend);
Expected<Json> card_peer_method(Params& params, ControlBackend& backend);
Expected<Json> card_peer_gone_method(Params& params, ControlBackend& backend);
Expected<Json> card_lease_method(Params& params, ControlBackend& backend);
Expected<Json> card_numbers_method(Params& params, ControlBackend& backend);

}  // namespace splitplane::app

// Which bearers may live on the card before their worker, and move there and back, by a gNB's configuration.
#pragma once

#include "gnb/config/config.h"
#include "placement/decision/host_only.h"

namespace splitplane::app {

// Why a bearer of that worker lives on the host, or does not move; `none`: it may do both. `one_of_several`: its
// session has other bearers. The rules of a bearer alone are those of card/protocol/servable.h.
[[nodiscard]] placement::HostOnly host_only(const GnbConfig& config, const WorkerConfig& worker,
                                            const ran::BearerConfig& bearer, bool one_of_several);

// Whether that reason forbids moves only: the bearer stays where it is, on a card too.
[[nodiscard]] bool forbids_moves_only(placement::HostOnly why);

}  // namespace splitplane::app

// Why a bearer may not live on a card. The rules themselves stand where the facts are: those of a bearer alone in
// card/protocol/servable.h, those of its session, worker and card in gnb/config/host_only.h.
#pragma once

#include "base/outcome_list.h"

namespace splitplane::placement {

// clang-format off
#define SPLITPLANE_HOST_ONLY_REASONS(X)                                                    \
  X(none, "a card may serve it")                                                           \
  X(rlc_mode, "its RLC is not AM, and a card serves am12 and am18 alone")                  \
  X(require_psc, "it has require_psc, which a card does not have")                         \
  X(n3_reorder, "it has n3_reorder, which a card does not have")                           \
  X(dl_teid, "it has dl_teid, and a card knows TEIDs that the gNB chose")                  \
  X(security, "it has security, and a card neither ciphers nor reorders")                  \
  X(ecn, "it has ecn, and a card marks no packets")                                        \
  X(no_ue_address, "it has no UE address, which lookup ue_address needs")                  \
  X(no_lookup, "the features of its worker or of the card look for no bearers")            \
  X(no_card, "its worker is not behind a card")                                            \
  X(of_session, "it is one of several of its session, and these do not move")              \
  X(dispatched, "its worker is behind a dispatching worker, which passes no fence")        \
  X(by_ue_address, "its card looks up UE addresses, and counts no packets at the host")    \
  X(copies, "its card has a port copies, so another worker gets the clones")
// clang-format on

SPLITPLANE_OUTCOMES(HostOnly, SPLITPLANE_HOST_ONLY_REASONS)

}  // namespace splitplane::placement

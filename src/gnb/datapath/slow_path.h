// Downlink packets off the usual path: frames that only the parsers of wire/ can tell, and G-PDUs that a bearer with
// options of its own looks at twice.
#pragma once

#include "engine/burst.h"
#include "n3/parse.h"
#include "n3/punts.h"
#include "ran/bearer.h"

namespace splitplane::datapath {

struct GnbContext;

// Drops a packet after its bearer was found, and counts it there.
void drop_of_bearer(GnbContext& context, rte_mbuf* m, ran::BearerDownlink& bearer, unsigned bytes, DropReason reason,
                    Losses& losses);

// What the recogniser refused, by the parsers: true for a G-PDU. Messages for the control thread go to `punts`, and so
// do packets that it has to answer; the rest is lost by reason.
[[nodiscard]] bool parse_unusual(rte_mbuf* m, const N3Addresses& ours, Punts& punts, WorkerStats& stats, Losses& losses,
                                 GPdu& gpdu);

// Leaves in the burst, with `gpdus` and `bearers` beside it, what goes on now: without a container that the bearer
// requires, a G-PDU is lost; a time stamp is noted; a numbered one may have to wait in context.reorder. `ordered`: the
// burst comes from there.
void take_unusual(GnbContext& context, Burst& burst, GPdu* gpdus, ran::BearerDownlink** bearers, bool ordered,
                  Losses& losses);

}  // namespace splitplane::datapath

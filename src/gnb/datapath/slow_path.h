// The slow path of the downlink: frames that only the parsers of wire/ can read, and G-PDUs whose bearer has options
// that need a second look.
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

// Parses a frame that the recogniser refused. Returns true for a G-PDU. Messages for the control thread, and packets
// that it has to answer, go to `punts`. All other frames are dropped with their reason.
[[nodiscard]] bool parse_slow(rte_mbuf* m, const N3Addresses& ours, Punts& punts, WorkerStats& stats, Losses& losses,
                              GPdu& gpdu);

// Keeps in the burst, with `gpdus` and `bearers` beside it, the packets that go on now. It drops a G-PDU without a
// container if the bearer requires one. It records time stamps. A G-PDU with a sequence number may have to wait in
// context.reorder. `ordered`: the burst comes from there.
void check_options_slow(GnbContext& context, Burst& burst, GPdu* gpdus, ran::BearerDownlink** bearers, bool ordered,
                        Losses& losses);

}  // namespace splitplane::datapath

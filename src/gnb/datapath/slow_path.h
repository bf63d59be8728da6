// The slow path of the stages, one packet or a few at a time. Each function belongs to the stage that its comment
// names; that stage's header lists the drop reasons.
#pragma once

#include "engine/burst.h"
#include "n3/parse.h"
#include "n3/punts.h"
#include "ran/bearer.h"
#include "ran/header_mode.h"

namespace splitplane::datapath {

struct GnbContext;

// Drops a packet after its bearer was found, and counts it there.
void drop_of_bearer(GnbContext& context, rte_mbuf* m, ran::BearerDownlink& bearer, unsigned bytes, DropReason reason,
                    Drops& drops);

// parse_gpdus: parses a frame that the recogniser refused. Returns true for a G-PDU. Messages for the control thread,
// and packets that it has to answer, go to `punts`. All other frames are dropped with their reason.
[[nodiscard]] bool parse_slow(rte_mbuf* m, const N3Addresses& ours, Punts& punts, WorkerStats& stats, Drops& drops,
                              GPdu& gpdu);

// serve_unmatched: a G-PDU of a QoS flow that is on its way to another bearer waits in context.flow_moves.
void wait_for_move(GnbContext& context, rte_mbuf* m, const GPdu& gpdu, Drops& drops);
// Once per round: ends the moves whose old bearer has delivered its SDUs, or whose time is over.
void serve_moves(GnbContext& context, std::uint64_t now);

// check_options: keeps in the burst, with `gpdus` and `bearers` beside it, the packets that go on now. It drops a G-PDU
// without a container if the bearer requires one. It records time stamps. A G-PDU with a sequence number may have to
// wait in context.reorder. `ordered`: the burst comes from there.
void check_options_slow(GnbContext& context, Burst& burst, GPdu* gpdus, ran::BearerDownlink** bearers, bool ordered,
                        Drops& drops);

// read_pdus: hands a packet off to the worker of its bearer, or drops it. `known`: the bearer is of this worker, but
// airhdr names other modes than the bearer's.
void serve_unmatched_pdu(GnbContext& context, rte_mbuf* m, std::uint32_t id, bool known, Drops& drops);

// read_pdus: serves a PDU that carries no SDU for N3. RLC control goes to the ARQ or to the copies; other PDUs are
// dropped.
void serve_other_pdu(GnbContext& context, rte_mbuf* m, const ran::BearerUplink& bearer, ran::UplinkKind kind,
                     Drops& drops);

// read_pdus: a PDU of a bearer of a session with several ones, without security. Its SDU becomes ready in
// context.session_uplinks, or waits there.
void serve_session_pdu(GnbContext& context, rte_mbuf* m, ran::BearerUplink& bearer, Drops& drops);

// encapsulate: returns why the packet cannot be sent, or writes its headers with the time stamps that the UPF asked for
// and returns DropReason::ok.
[[nodiscard]] DropReason encapsulate_slow(GnbContext& context, rte_mbuf* m, ran::BearerUplink& bearer, std::uint8_t qfi,
                                          unsigned strip, unsigned payload);

}  // namespace splitplane::datapath

// What both directions of one gNB worker share. The worker owns it. The control thread changes it only by commands that
// the worker executes.
#pragma once

#include <rte_ring.h>

#include "arq/arq_bearers.h"
#include "engine/burst.h"
#include "engine/wakeup.h"
#include "gnb/datapath/bearer_lookup.h"
#include "gnb/datapath/lease_requests.h"
#include "gnb/datapath/punt_handoff.h"
#include "n3/interface.h"
#include "n3/punts.h"
#include "n3/qos_monitor.h"
#include "n3/reorder.h"
#include "n3/rx_checksum.h"
#include "radio/phy_exchange.h"
#include "ran/bearer_table.h"
#include "returns/card_moves.h"
#include "returns/card_returns.h"
#include "secured/worker_pdcp.h"
#include "sessions/flow_counters.h"
#include "sessions/flow_moves.h"
#include "sessions/session_uplinks.h"
#include "wire/bytes.h"
#include "wire/ethernet.h"

namespace splitplane::datapath {

using AirHeader = std::array<std::uint8_t, 14>;

struct GnbContext {
  ran::BearerTable bearers;
  BearerLookup keys;
  ran::BearerDownlink fixed_bearer;  // feature set `headers`: the one bearer of all packets
  N3Addresses n3;
  N3Peers peers{};
  AirHeader air_header{};           // Ethernet header of every frame to the air
  unsigned air_frame_bytes = 1514;  // the longest frame that the air port sends
  rte_ring* copies = nullptr;       // SP/SC: references to sent PDUs and uplink RLC control, to the consumer of copies
  Wakeup* copies_consumer = nullptr;           // a separate worker that consumes the copies; nullptr: this worker does
  Punts punt;                                  // to the control thread: ARP, neighbor discovery and GTP-U messages
  rte_ring* inject = nullptr;                  // SP/SC: frames of the control thread for N3
  PuntHandoff punt_handoff;                    // the other workers behind the same card
  std::vector<WorkerRings> handed;             // from each of them: packets of this worker's bearers
  rte_mempool* pool = nullptr;                 // for copies that cannot be references
  ChecksumMode checksums = ChecksumMode::off;  // of what this worker receives from N3
  N3Reorder reorder;
  QosMonitor monitor;
  std::unique_ptr<Arq> arq;  // with `baas`: keeps sent PDUs until the UE acknowledges them
  ArqBearers arq_bearers;
  std::unique_ptr<WorkerPdcp> pdcp;  // with a `key_file`: ciphers and orders the packets of secured bearers
  SecuredBearers secured_bearers;
  std::unique_ptr<Cell> cell;                     // feature set `full`: the UEs with their RLC entities
  std::unique_ptr<CellSlots> slots;               // with a PHY: what the cell sends and may receive in each slot
  std::unique_ptr<PhyExchange> phy;               // ... and the way to its thread
  FlowMoves flow_moves;                           // downlink QoS flows that get another bearer of their session
  FlowCounters flow_counters;                     // of sessions with several bearers
  SessionUplinks session_uplinks{flow_counters};  // uplink of sessions with several bearers
  std::optional<LeaseRequests> lease_requests;    // if COUNTs need a lease
  WorkerStats stats;
  CardReturns card_returns{bearers, stats};  // packets of a card's bearers that go back to the card
  CardMoves card_moves;                      // bearers that move between this worker and a card
};

// The worker calls it once per round: copies the counters of the acknowledged bearers.
inline void note_served(GnbContext& context) {
  const Arq::Counters& c = context.arq->counters();
  context.stats.rlc_retransmitted.set(c.retransmitted);
  context.stats.rlc_status_sent.set(c.status_sent);
  context.stats.rlc_own.set(c.sent);
  context.stats.rlc_tx_lost.set(c.lost);
  context.stats.rlc_max_retx.set(c.max_retx);
  context.stats.rlc_peer_lost.set(c.peer_lost);
  context.stats.rlc_unacked.set(context.arq->unacked());
  context.stats.card_copies_lost.set(c.no_copy);
  context.stats.rlc_copy_gone.set(c.gone);
  if (const baas::WorkerEnd* const service = context.arq->service(); service != nullptr) {
    context.stats.baas_told.set(service->counters().told);
    context.stats.baas_told_again.set(service->counters().told_again);
    context.stats.baas_status_lost.set(service->counters().status_lost);
  }
}

inline void note_flow_held(GnbContext& context) {
  context.stats.flow_held.set(context.flow_moves.held() + context.session_uplinks.held());
}

inline void write_air_header(const AirHeader& header, std::uint8_t* frame) {
  std::memcpy(frame, header.data(), 14);
}

}  // namespace splitplane::datapath

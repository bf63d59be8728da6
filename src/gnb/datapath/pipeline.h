// The packet path of a gNB worker, from top to bottom. Each stage stands in the header of its name, and that header
// says which packets go on and which are dropped for what reason. The feature set decides at compile time how far the
// downlink goes (docs/design/architecture.md). All stages of a worker are compiled into one function for each
// direction.
#pragma once

#include "engine/drop_burst.h"
#include "engine/l2fwd.h"
#include "gnb/datapath/add_headers.h"
#include "gnb/datapath/check_options.h"
#include "gnb/datapath/encapsulate.h"
#include "gnb/datapath/find_bearers.h"
#include "gnb/datapath/parse_airhdr.h"
#include "gnb/datapath/parse_gpdus.h"
#include "gnb/datapath/queue_sdus.h"
#include "gnb/datapath/read_pdus.h"
#include "gnb/datapath/receive_rlc.h"
#include "gnb/datapath/secured.h"
#include "gnb/datapath/take_references.h"
#include "gnb/datapath/transmit_air.h"
#include "gnb/datapath/transmit_n3.h"
#include "n3/rx_checksum.h"

namespace splitplane::datapath {

// The end of the downlink, for SDUs whose bearers are known.
template <FeatureSet F, class Sink, class Probe>
inline void send_sdus(DownlinkPath<F, Sink, Probe>& path, Burst& burst, Drops& drops) {
  if constexpr (F == FeatureSet::full) {
    queue_sdus(path, burst, drops);  // SDAP, PDCP, and into RLC's queues
  } else {
    add_headers(path, burst, drops);  // airhdr, RLC, PDCP and SDAP in the place of the outer headers
    if constexpr (F >= FeatureSet::clone_drop) take_references(path, burst);  // for the copies or for retransmission
    transmit_air(path, burst);
  }
}

// N3 -> air, for G-PDUs. A packet that had to wait for its predecessors enters again here
// (GnbDownlink::deliver_ordered).
template <FeatureSet F, class Sink, class Probe>
inline void forward_downlink(DownlinkPath<F, Sink, Probe>& path, Burst& burst, Drops& drops) {
  parse_gpdus(path, burst, drops);  // Ethernet, IP, UDP, GTP-U -> TEID, QoS flow, place of the T-PDU
  if constexpr (F >= FeatureSet::mat) {
    find_bearers(path, burst, drops);   // TEID or UE address -> the bearer's line; other packets leave here
    check_options(path, burst, drops);  // slow path only: order, time stamps, a container that is required
  }
  if constexpr (F == FeatureSet::headers) require_fixed_bearer(path, burst, drops);
  send_sdus(path, burst, drops);
}

// N3 -> air, for a burst as the port delivers it.
template <FeatureSet F, class Sink, class Probe>
inline void run_downlink(DownlinkPath<F, Sink, Probe>& path, Burst& burst, Drops& drops) {
  if constexpr (F == FeatureSet::drop) {
    drop_burst(path, burst, drops, Stage::dl_parse);
  } else if constexpr (F == FeatureSet::l2fwd) {
    swap_macs(burst);
    path.probe.stage(Stage::l2fwd, burst.size);
    transmit_air(path, burst);
  } else {
    if (path.gnb.checksums != ChecksumMode::off) [[unlikely]]
      drop_wrong_checksums(burst, path.gnb.checksums, drops);
    forward_downlink(path, burst, drops);
  }
}

// Sends SDUs of sessions with several bearers whose turn it is.
template <FeatureSet F, class Sink, class Probe>
[[gnu::noinline]] inline void deliver_session_sdus(UplinkPath<F, Sink, Probe>& path) {
  auto& ready = path.gnb.session_uplinks.ready;
  for (std::size_t done = 0; done < ready.size();) {
    Burst burst;
    Drops drops(path.stats);
    for (; burst.size < kBurst && done < ready.size(); ++done, ++burst.size) {
      burst.mbuf[burst.size] = ready[done].m;
      path.bearer[burst.size] = ready[done].line;
      path.qfi[burst.size] = ready[done].qfi;
    }
    path.probe.found(path.bearer.data(), burst.size);
    path.probe.read(path.qfi.data(), burst.size);
    encapsulate(path, burst, drops);
    transmit_n3(path, burst);
  }
  ready.clear();
  note_flow_held(path.gnb);
}

// Air -> N3.
template <FeatureSet F, class Sink, class Probe>
inline void run_uplink(UplinkPath<F, Sink, Probe>& path, Burst& burst, Drops& drops) {
  if constexpr (F == FeatureSet::drop) {
    drop_burst(path, burst, drops, Stage::ul_parse);
  } else if constexpr (F == FeatureSet::l2fwd) {
    swap_macs(burst);
    path.probe.stage(Stage::l2fwd, burst.size);
    transmit_n3(path, burst);
  } else if constexpr (F == FeatureSet::full) {
    drop_burst(burst, drops, DropReason::air_unused);  // RLC PDUs come from MAC: receive_rlc_pdus
  } else {
    const unsigned received = burst.size;
    parse_airhdr(path, burst, drops);  // Ethernet, airhdr -> the bearer's line
    read_pdus(path, burst, drops);     // RLC, PDCP, SDAP -> QoS flow; RLC control goes to the copies or to the ARQ
    path.probe.stage(Stage::ul_parse, received);
    encapsulate(path, burst, drops);  // GTP-U with the UL PDU Session Container in the place of the RAN headers
    transmit_n3(path, burst);
    if (path.gnb.pdcp != nullptr && path.gnb.pdcp->incoming.size != 0) [[unlikely]]
      receive_secured(path, drops);  // PDUs of secured bearers, which read_pdus left to PDCP
    if (!path.gnb.session_uplinks.ready.empty()) [[unlikely]]
      deliver_session_sdus(path);  // SDUs of sessions with several bearers, in the order of their flows
  }
}

// MAC -> N3, for at most kBurst RLC PDUs. Feature set `full`.
template <FeatureSet F, class Sink, class Probe>
inline void receive_rlc_pdus(UplinkPath<F, Sink, Probe>& path, std::span<const RlcPdu> pdus, Drops& drops) {
  receive_rlc(path, pdus, drops);  // RLC -> SDUs that are complete
  if (path.gnb.pdcp != nullptr && path.gnb.pdcp->incoming.size != 0)
    receive_secured(path, drops);  // PDCP, SDAP, GTP-U and N3, in order
  if (!path.gnb.session_uplinks.ready.empty()) [[unlikely]]
    deliver_session_sdus(path);  // SDUs of sessions with several bearers, in the order of their flows
}

}  // namespace splitplane::datapath

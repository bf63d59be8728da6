// The stages of secured bearers, in both directions. Their packets leave the fast path by its slow branches.
//
// Downlink: their SDUs leave add_headers, and come back to the burst as frames for the air. The stages after it serve
// these like any other frame.
//   goes on  a frame for the air, protected and numbered
//   dropped  before it has a COUNT: pdcp_no_keys, above_mtu, no_headroom, rlc_window_full, count_lease_ended,
//            count_exhausted, pdcp_sdu_too_large, pdcp_no_memory; after that: pdcp_crypto_failed
//
// Uplink: their PDUs leave read_pdus. They go through RLC one by one, then through PDCP together. Each SDU that is in
// order goes the way of any other uplink SDU.
//   goes on  an SDU in order, for encapsulate; in the shape of the frame that it came in
//   held     an SDU that came before another one, until t-Reordering runs out
//   dropped  rlc_other_epoch: of before a change of keys; by RLC as in read_pdus; pdcp_no_keys, pdcp_integrity_failed,
//            pdcp_duplicate, pdcp_old, pdcp_count_wrong, pdcp_no_memory, pdcp_crypto_failed, pdcp_control,
//            pdcp_keys_changed, pdu_too_short, sdap_end_marker
#pragma once

#include <rte_cycles.h>

#include "gnb/datapath/encapsulate.h"
#include "gnb/datapath/transmit_n3.h"

namespace splitplane::datapath {

// Fetches what collect_secured needs for the bearers of a burst: those of 64 K are not in the cache.
void fetch_secured(GnbContext& gnb, std::span<ran::BearerDownlink* const> lines);

// Asks for a longer lease of COUNTs where it is time, and lets PDCP go to the end of the present one.
void take_lease(GnbContext& gnb, std::uint32_t id, SecuredBearer& bearer);
// Puts the SDAP header of its bearer before the SDU of a G-PDU, and gives it to PDCP. Returns why it must be dropped;
// DropReason::ok if it is collected.
[[nodiscard]] DropReason collect_sdu(GnbContext& gnb, rte_mbuf* m, const GPdu& gpdu, const ran::BearerDownlink& line,
                                     SecuredBearer& bearer);
// Why PDCP did not send an SDU.
[[nodiscard]] DropReason not_sent_as(ran::pdcp::TxOutcome outcome, const PdcpTransmitter& from);

// The same as fetch_secured for full mode, with the logical channels.
void fetch_for_rlc(GnbContext& gnb, std::span<ran::BearerDownlink* const> lines);

// Collects an SDU of a secured bearer. Returns why it must be dropped; DropReason::ok if it is collected.
[[nodiscard]] DropReason collect_secured(GnbContext& gnb, rte_mbuf* m, const GPdu& gpdu, ran::BearerDownlink& line,
                                         bool has_room);

// Protects what is collected, and puts the frames behind those of the burst. Their lines go to `lines`.
void protect_secured(GnbContext& gnb, Burst& burst, ran::BearerDownlink** lines, Drops& drops);

// Collects the RLC PDU of a secured bearer, or drops it.
void collect_secured_pdu(GnbContext& gnb, rte_mbuf* m, ran::BearerUplink& line, Drops& drops);
// After receive(): drops what PDCP did not accept.
void drop_refused(GnbContext& gnb, Drops& drops);
// Takes the SDAP header off an SDU that PDCP delivered, and puts the octets before it that encapsulate expects there.
// Returns the mbuf with its QoS flow, or nullptr if the SDU was dropped.
[[nodiscard]] rte_mbuf* take_delivered(GnbContext& gnb, ran::BearerUplink& line, MbufBuffer sdu, std::uint8_t& qfi);

// Sends what PDCP delivers, a burst at a time: PDCP may deliver more at once than a burst has room for.
template <FeatureSet F, class Sink, class Probe>
class SecuredDelivery {
 public:
  explicit SecuredDelivery(UplinkPath<F, Sink, Probe>& path) : path_(path) {}
  ~SecuredDelivery() { flush(); }
  SecuredDelivery(const SecuredDelivery&) = delete;
  SecuredDelivery& operator=(const SecuredDelivery&) = delete;

  void operator()(BearerId id, MbufBuffer sdu) {
    ran::BearerUplink& line = *path_.gnb.bearers.uplink_line(id.value);
    rte_mbuf* const m = take_delivered(path_.gnb, line, std::move(sdu), path_.qfi[out_.size]);
    if (m == nullptr) return;
    if (ran::is_of_session(line)) [[unlikely]]
      return path_.gnb.session_uplinks.receive(line, path_.qfi[out_.size], m, rte_rdtsc());
    path_.bearer[out_.size] = &line;
    out_.mbuf[out_.size++] = m;
    if (out_.size == kBurst) flush();
  }

 private:
  void flush() {
    if (out_.size == 0) return;
    {
      Drops drops(path_.stats);
      encapsulate(path_, out_, drops);
    }
    transmit_n3(path_, out_);
    out_.size = 0;
  }

  UplinkPath<F, Sink, Probe>& path_;
  Burst out_;
};

// After the other packets of the burst have left.
template <FeatureSet F, class Sink, class Probe>
[[gnu::noinline]] inline void receive_secured(UplinkPath<F, Sink, Probe>& path, Drops& drops) {
  GnbContext& gnb = path.gnb;
  {
    SecuredDelivery<F, Sink, Probe> deliver(path);
    gnb.pdcp->receive(gnb.pdcp->incoming, rte_rdtsc(), deliver);
  }
  drop_refused(gnb, drops);
  gnb.stats.pdcp_held.set(gnb.pdcp->held());
}

// Once per round: sends what waited for t-Reordering.
template <FeatureSet F, class Sink, class Probe>
[[gnu::noinline]] inline void serve_secured(UplinkPath<F, Sink, Probe>& path) {
  {
    SecuredDelivery<F, Sink, Probe> deliver(path);
    path.gnb.pdcp->serve(rte_rdtsc(), deliver);
  }
  path.stats.pdcp_held.set(path.gnb.pdcp->held());
}

}  // namespace splitplane::datapath

// The SDAP entity of one PDU session at the gNB (TS 37.324): it sends DL and receives UL. Its rules are for DL. In UL
// the header's QFI counts on any DRB, because reflective mapping lets the UE choose.
#pragma once

#include "ran/sdap/counters.h"
#include "ran/sdap/flow_map.h"
#include "ran/sdap/pdu.h"
#include "wire/sdap.h"

namespace splitplane::ran::sdap {

class GnbEntity {
 public:
  [[nodiscard]] bool configure_drb(DrbId drb, const DrbConfig& config) { return map_.configure_drb(drb, config); }
  [[nodiscard]] bool set_default(DrbId drb) { return map_.set_default(drb); }
  void release_drb(DrbId drb) { map_.release_drb(drb); }
  // Returns false if the session has no such DRB, or the QFI is beyond 63; then nothing changes.
  [[nodiscard]] bool configure_rule(Qfi qfi, DrbId drb);
  void release_rule(Qfi qfi) { map_.release_rule(qfi); }

  // DL. RDI and RQI of an SDU on a DRB without a DL header are not sent.
  Sent send(Qfi qfi, std::size_t sdu_octets, bool rdi, bool rqi) {
    if (qfi.value >= kFlows) return {counters_.drop(Drop::bad_qfi)};
    if (sdu_octets == 0) return {counters_.drop(Drop::sdu_empty)};
    const DrbId drb = map_.drb_of(qfi);
    if (drb == DrbId{}) return {counters_.drop(Drop::no_drb)};
    counters_.sent[qfi.value].add(sdu_octets);
    return {Drop::none, drb, map_.header_dl(drb), wire::sdap::encode(wire::sdap::DownlinkHeader{rdi, rqi, qfi})};
  }

  // UL. N3 needs a QFI (TS 38.415), so a PDU whose flow is not known is dropped.
  ReceivedByGnb receive(DrbId drb, wire::Octets pdu) {
    if (!map_.has_drb(drb)) return {counters_.drop(Drop::unknown_drb)};
    if (!map_.header_ul(drb)) return receive_without_header(drb, pdu);
    const auto header = wire::sdap::parse_uplink(pdu);
    if (!header || (header->is_data && pdu.size() == wire::sdap::kHeaderBytes)) {
      return {counters_.drop(Drop::malformed)};
    }
    counters_.end_markers_received += header->is_data ? 0 : 1;
    if (header->is_data) counters_.received[header->qfi.value].add(pdu.size() - wire::sdap::kHeaderBytes);
    return {Drop::none, !header->is_data, header->qfi, wire::sdap::kHeaderBytes};
  }

  [[nodiscard]] const FlowMap& map() const { return map_; }
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  ReceivedByGnb receive_without_header(DrbId drb, wire::Octets pdu);

  FlowMap map_;
  Counters counters_;
};

}  // namespace splitplane::ran::sdap

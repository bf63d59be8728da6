// The SDAP entity of one PDU session at the UE (TS 37.324): it sends UL, receives DL, and stores the rules that RRC and
// reflective mapping make. The latest of the two counts (TS 38.300 12.1).
#pragma once

#include "ran/sdap/counters.h"
#include "ran/sdap/flow_map.h"
#include "ran/sdap/pdu.h"
#include "wire/sdap.h"

namespace splitplane::ran::sdap {

class UeEntity {
 public:
  // DRBs and the default DRB. Rules change by configure_rule() and release_rule(), which know when a flow ends.
  [[nodiscard]] bool configure_drb(DrbId drb, const DrbConfig& config) { return map_.configure_drb(drb, config); }
  [[nodiscard]] bool set_default(DrbId drb) { return map_.set_default(drb); }
  void release_drb(DrbId drb) { map_.release_drb(drb); }

  // 5.3.1. Returns false if the session has no such DRB, or the QFI is beyond 63; then nothing changes. `end_marker`
  // must be sent on its DRB before the next SDU of that flow.
  [[nodiscard]] bool configure_rule(Qfi qfi, DrbId drb, EndMarker& end_marker);
  void release_rule(Qfi qfi) { map_.release_rule(qfi); }

  // 5.2.1, UL.
  Sent send(Qfi qfi, std::size_t sdu_octets) {
    if (qfi.value >= kFlows) return {counters_.drop(Drop::bad_qfi)};
    if (sdu_octets == 0) return {counters_.drop(Drop::sdu_empty)};
    const DrbId drb = map_.drb_of(qfi);
    if (drb == DrbId{}) return {counters_.drop(Drop::no_drb)};
    counters_.sent[qfi.value].add(sdu_octets);
    return {Drop::none, drb, map_.header_ul(drb), wire::sdap::encode(wire::sdap::UplinkHeader{true, qfi})};
  }

  // 5.2.2, DL.
  ReceivedByUe receive(DrbId drb, wire::Octets pdu) {
    if (!map_.has_drb(drb)) return {counters_.drop(Drop::unknown_drb)};
    const std::size_t header_bytes = map_.header_dl(drb) ? wire::sdap::kHeaderBytes : 0;
    if (pdu.size() <= header_bytes) return {counters_.drop(Drop::malformed)};  // there is no SDU
    ReceivedByUe out;
    if (header_bytes == 0) {
      counters_.received_without_flow.add(pdu.size());
      return out;
    }
    const wire::sdap::DownlinkHeader header = *wire::sdap::parse_downlink(pdu);
    out.has_qfi = true;
    out.qfi = header.qfi;
    out.header_bytes = wire::sdap::kHeaderBytes;
    out.rqi = header.rqi;
    if (header.rdi && map_.rule_of(header.qfi) != drb) out.end_marker = store_rule(header.qfi, drb);  // 5.3.2
    counters_.received[header.qfi.value].add(pdu.size() - header_bytes);
    return out;
  }

  [[nodiscard]] const FlowMap& map() const { return map_; }
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  EndMarker store_rule(Qfi qfi, DrbId drb);

  FlowMap map_;
  Counters counters_;
};

}  // namespace splitplane::ran::sdap

#include "ue/ue_downlink.h"

#include <rte_cycles.h>

#include <algorithm>

#include "ran/bearer.h"
#include "wire/airhdr.h"
#include "wire/ethernet.h"
#include "wire/pdcp.h"
#include "wire/rlc.h"
#include "wire/rlc_status.h"
#include "wire/sdap.h"

namespace splitplane::ue {
namespace {

// One PDU on its way up the layers of a bearer. Each step removes its header from `pdu`, or returns why it cannot.
class Climb {
 public:
  Climb(UeBearer& bearer, datapath::Arq* arq, UeEndMarkers& due, Octets pdu)
      : bearer_(bearer), arq_(arq), due_(due), counters_(bearer.downlink), pdu_(pdu) {}

  [[nodiscard]] UeOutcome rlc() {
    switch (bearer_.config.rlc_mode) {
      case RlcMode::kTm: {
        const auto data = wire::rlc::parse_tm(pdu_);
        return outcome_of(data.reason);
      }
      case RlcMode::kUm: {
        const auto header = wire::rlc::parse_um(pdu_, bearer_.config.rlc_sn_bits);
        if (!header) return outcome_of(header.reason);
        if (header->si != wire::rlc::Segment::kComplete) return UeOutcome::rlc_segment;
        pdu_ = pdu_.subspan(header->header_bytes);
        return UeOutcome::ok;
      }
      case RlcMode::kAm:
        return rlc_am();
    }
    return UeOutcome::airhdr_bad_rlc_mode;
  }

  [[nodiscard]] UeOutcome pdcp() {
    const auto header = wire::pdcp::parse_data(pdu_, bearer_.config.pdcp_sn_bits);
    if (header.reason == wire::Reason::pdcp_not_data) return UeOutcome::pdcp_control;
    if (!header) return outcome_of(header.reason);
    // As with outOfOrderDelivery (TS 38.323 5.2.2.1): late PDUs are delivered late, known ones discarded.
    switch (bearer_.pdcp_rx.accept(header->sn)) {
      case Arrival::kFresh:
        break;
      case Arrival::kLate:
        ++counters_.pdcp_late;
        break;
      case Arrival::kDuplicate:
        ++counters_.pdcp_duplicates;
        return UeOutcome::pdcp_duplicate;
      case Arrival::kOld:
        if (bearer_.arq == nullptr) return UeOutcome::pdcp_old;
        ++counters_.pdcp_late;  // it was sent again, and RLC ensured that it comes once
        break;
    }
    pdu_ = pdu_.subspan(header->header_bytes);
    return UeOutcome::ok;
  }

  [[nodiscard]] UeOutcome sdap() {
    if (bearer_.session != nullptr) return sdap_of_session(*bearer_.session);
    if (!bearer_.config.sdap_header_dl) return UeOutcome::ok;
    const auto header = wire::sdap::parse_downlink(pdu_);
    if (!header) return outcome_of(header.reason);
    counters_.reflective += header->rdi || header->rqi ? 1 : 0;
    counters_.other_qfi += header->qfi != bearer_.config.qfi ? 1 : 0;
    pdu_ = pdu_.subspan(wire::sdap::kHeaderBytes);
    return UeOutcome::ok;
  }

  // Returns the IP packet without link padding.
  [[nodiscard]] UeOutcome ip() {
    const IpPacket packet = parse_ip(pdu_);
    if (packet.outcome != UeOutcome::ok) return packet.outcome;
    const auto& ours = packet.is_v6 ? bearer_.config.ue_ipv6 : bearer_.config.ue_ipv4;
    const Octets to = destination_of(packet);
    if (!ours || !std::equal(to.begin(), to.end(), ours->octets().begin())) ++counters_.other_destination;
    pdu_ = packet.octets;
    counters_.bytes += pdu_.size();
    if (rule_) bearer_.session->learn(packet, *rule_, rte_rdtsc());
    return UeOutcome::ok;
  }

  [[nodiscard]] Octets rest() const { return pdu_; }
  [[nodiscard]] bool polled() const { return polled_; }

 private:
  // RDI may move the flow's uplink to this bearer. RQI is for the packet behind the header.
  [[nodiscard]] UeOutcome sdap_of_session(UeSession& session) {
    const auto received = session.receive(bearer_, pdu_, due_);
    if (received.drop != ran::sdap::Drop::none) return UeOutcome::pdu_too_short;
    if (!received.has_qfi) return UeOutcome::ok;
    counters_.reflective += (pdu_[0] & 0xc0) != 0 ? 1 : 0;
    if (received.rqi) rule_ = received.qfi;
    pdu_ = pdu_.subspan(received.header_bytes);
    return UeOutcome::ok;
  }

  [[nodiscard]] UeOutcome rlc_am() {
    const unsigned sn_bits = bearer_.config.rlc_sn_bits;
    const auto header = wire::rlc::parse_am(pdu_, sn_bits);
    if (header.reason == wire::Reason::rlc_not_data) {
      const auto status = wire::rlc::parse_status(pdu_, sn_bits);
      if (bearer_.arq != nullptr) {
        (void)arq_->receive_status(*bearer_.arq, pdu_, rte_rdtsc());
        return UeOutcome::rlc_control;
      }
      return status ? UeOutcome::rlc_control : outcome_of(status.reason);
    }
    if (!header) return outcome_of(header.reason);
    counters_.polls += header->poll ? 1 : 0;
    if (bearer_.arq != nullptr) return rlc_acknowledged(*header);
    polled_ = header->poll;
    if (header->si != wire::rlc::Segment::kComplete) return UeOutcome::rlc_segment;
    switch (bearer_.rlc_rx.accept(header->sn)) {
      case Arrival::kFresh:
        break;
      case Arrival::kLate:
        ++counters_.rlc_late;
        break;
      case Arrival::kDuplicate:  // TS 38.322 5.2.3.2.2: it is discarded, but its poll counts
        ++counters_.rlc_duplicates;
        return UeOutcome::rlc_duplicate;
      case Arrival::kOld:
        return UeOutcome::rlc_old;
    }
    pdu_ = pdu_.subspan(header->header_bytes);
    return UeOutcome::ok;
  }

  // Full RLC answers polls itself, when they are due.
  [[nodiscard]] UeOutcome rlc_acknowledged(const wire::rlc::AmHeader& header) {
    if (header.si != wire::rlc::Segment::kComplete) return UeOutcome::rlc_segment;
    switch (arq_->receive(*bearer_.arq, pdu_, rte_rdtsc())) {
      case ran::rlc::Received::kDelivered:
        pdu_ = pdu_.subspan(header.header_bytes);
        return UeOutcome::ok;
      case ran::rlc::Received::kNoMemory:
        return UeOutcome::rlc_no_memory;
      default:
        ++counters_.rlc_duplicates;
        return UeOutcome::rlc_duplicate;
    }
  }

  UeBearer& bearer_;
  datapath::Arq* arq_;  // not for SDUs
  UeEndMarkers& due_;
  DownlinkCounters& counters_;
  Octets pdu_;
  bool polled_ = false;
  std::optional<Qfi> rule_;  // RQI: the flow of packets that answer this one
};

[[nodiscard]] bool modes_match(const wire::airhdr::Header& air, const ran::BearerConfig& config) {
  return air.rlc_mode == config.rlc_mode && air.rlc_sn_bits == config.rlc_sn_bits &&
         air.pdcp_sn_bits == config.pdcp_sn_bits && air.sdap_header == config.sdap_header_dl;
}

[[nodiscard]] bool is_of_other_epoch(const UeBearer& bearer, std::uint8_t epoch) {
  if (bearer.arq != nullptr) return epoch != bearer.arq->epoch;
  return bearer.secured != nullptr && epoch != bearer.secured->epoch;
}

}  // namespace

// The gNB has begun another epoch, maybe with other keys, and this side follows soon. Until then silence is no radio
// link failure, and no SDU is given up that the gNB sends again.
void UeDownlink::wait_for_gnb(UeBearer& bearer) {
  const std::uint64_t now = rte_rdtsc();
  arq_->await_peer(*bearer.arq, now);
  if (pdcp_ != nullptr) pdcp_->pause_reordering(*bearer.secured, now);
}

UeDownlink::Received UeDownlink::receive(Octets frame) {
  const auto ethernet = wire::ethernet::parse(frame);
  if (!ethernet) return {.outcome = outcome_of(ethernet.reason)};
  if (ethernet->ether_type != wire::airhdr::kEtherType) return {.outcome = UeOutcome::not_air_frame};
  frame = frame.subspan(ethernet->header_bytes);
  const auto air = wire::airhdr::parse(frame);
  if (!air) return {.outcome = outcome_of(air.reason)};
  if (air->direction != Direction::kDownlink) return {.outcome = UeOutcome::airhdr_wrong_direction};
  UeBearer* bearer = bearers_.find(air->bearer);
  if (bearer == nullptr) return {.outcome = UeOutcome::bearer_unknown};

  ++bearer->downlink.received;
  Climb climb(*bearer, arq_, due_, wire::airhdr::pdu_of(*air, frame));
  UeOutcome outcome = modes_match(*air, bearer->config) ? UeOutcome::ok : UeOutcome::airhdr_modes_wrong;
  const bool stale = is_of_other_epoch(*bearer, air->epoch);
  if (outcome == UeOutcome::ok && stale) {
    outcome = UeOutcome::rlc_other_epoch;
    const bool is_late = bearer->arq != nullptr && ran::is_epoch_before(air->epoch, bearer->arq->epoch);
    if (bearer->arq != nullptr && bearer->secured != nullptr && !is_late) wait_for_gnb(*bearer);
  }
  if (outcome == UeOutcome::ok && bearer->arq == nullptr) bearer->follow_epoch(air->epoch);
  if (outcome == UeOutcome::ok) outcome = climb.rlc();
  if (outcome == UeOutcome::ok && bearer->config.security) {
    if (bearer->secured != nullptr) return {outcome, climb.rest(), bearer, climb.polled(), true};
    outcome = UeOutcome::pdcp_no_keys;
  }
  if (outcome == UeOutcome::ok) outcome = climb.pdcp();
  if (outcome == UeOutcome::ok) outcome = climb.sdap();
  if (outcome == UeOutcome::ok) outcome = climb.ip();
  if (outcome == UeOutcome::rlc_control) {
    ++bearer->downlink.control;
  } else if (outcome != UeOutcome::ok) {
    ++bearer->downlink.dropped;
  }
  return {outcome, outcome == UeOutcome::ok ? climb.rest() : Octets{}, bearer, climb.polled()};
}

UeDownlink::Received UeDownlink::receive_sdu(UeBearer& bearer, Octets sdu) {
  Climb climb(bearer, arq_, due_, sdu);
  UeOutcome outcome = climb.sdap();
  if (outcome == UeOutcome::ok) outcome = climb.ip();
  if (outcome != UeOutcome::ok) ++bearer.downlink.dropped;
  return {outcome, outcome == UeOutcome::ok ? climb.rest() : Octets{}, &bearer};
}

}  // namespace splitplane::ue

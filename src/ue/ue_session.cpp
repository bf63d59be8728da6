#include "ue/ue_session.h"

#include <algorithm>

namespace splitplane::ue {

using ran::sdap::DrbId;

void UeSession::configure(UeBearer& bearer, const app::InSession& place) {
  const ran::BearerConfig& config = bearer.config;
  const bool has_header = config.sdap_header_ul;
  (void)entity_.configure_drb(place.drb, {.header_ul = has_header,
                                          .header_dl = config.sdap_header_dl,
                                          .qfi = has_header ? std::nullopt : std::optional(config.qfi)});
  places_[place.drb.value] = place;
  if (!place.is_default) return;
  (void)entity_.set_default(place.drb);
  default_flow_ = config.qfi;
}

void UeSession::join(UeBearer& bearer, const app::InSession& place) {
  UeBearer* const before = at(place.drb);
  if (before == nullptr) ++bearers_;
  if (before != nullptr && before != &bearer) before->session = nullptr;  // else it would outlive the session
  entity_.release_drb(place.drb);
  by_drb_[place.drb.value] = &bearer;
  bearer.session = this;
  bearer.drb = place.drb;
  UeEndMarkers none;
  follow(bearer, place, none);
}

void UeSession::follow(UeBearer& bearer, const app::InSession& place, UeEndMarkers& due) {
  configure(bearer, place);
  for (const Qfi qfi : place.flows) {
    ran::sdap::EndMarker marker;
    if (!place.reflective && entity_.configure_rule(qfi, place.drb, marker)) note(marker, due);
  }
}

void UeSession::leave(const UeBearer& bearer) {
  if (at(bearer.drb) != &bearer) return;
  entity_.release_drb(bearer.drb);
  by_drb_[bearer.drb.value] = nullptr;
  --bearers_;
}

UeSession::Way UeSession::send(const IpPacket& uplink, Ticks now) {
  const Qfi qfi = reflective_.flow_of(uplink, now).value_or(default_flow_);
  const ran::sdap::Sent sent = entity_.send(qfi, uplink.octets.size());
  return sent.drop == ran::sdap::Drop::none ? Way{at(sent.drb), sent.header} : Way{};
}

ran::sdap::ReceivedByUe UeSession::receive(const UeBearer& bearer, Octets pdu, UeEndMarkers& due) {
  const auto received = entity_.receive(bearer.drb, pdu);
  note(received.end_marker, due);
  return received;
}

void UeSession::note(const ran::sdap::EndMarker& marker, UeEndMarkers& due) const {
  if (!marker || at(marker.drb) == nullptr) return;
  const UeEndMarker one{at(marker.drb)->config.id, marker.octet};
  if (std::ranges::find(due, one) == due.end()) due.push_back(one);
}

app::InSession UeSession::place_of(const UeBearer& bearer) const {
  app::InSession place = places_[bearer.drb.value];
  place.flows.clear();
  for (std::uint8_t qfi = 0; qfi < ran::sdap::kFlows; ++qfi) {
    if (entity_.map().rule_of(Qfi{qfi}) == bearer.drb) place.flows.push_back(Qfi{qfi});
  }
  return place;
}

std::vector<app::FlowView> UeSession::flows() const {
  const ran::sdap::Counters& counted = entity_.counters();
  std::vector<app::FlowView> flows;
  for (std::uint8_t qfi = 0; qfi < ran::sdap::kFlows; ++qfi) {
    const ran::sdap::FlowCount &downlink = counted.received[qfi], &uplink = counted.sent[qfi];
    if (downlink.sdus + uplink.sdus == 0) continue;
    flows.push_back({.qfi{qfi}, .drb = entity_.map().drb_of(Qfi{qfi}), .downlink = downlink, .uplink = uplink});
  }
  return flows;
}

}  // namespace splitplane::ue

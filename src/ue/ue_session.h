// A PDU session with several bearers at the UE side: which bearer an uplink packet takes, what the SDAP headers of the
// downlink say, and which end markers are due. docs/design/sessions.md says who tells the UE which rule.
#pragma once

#include <array>
#include <vector>

#include "ran/bearer_view.h"
#include "ran/sdap/ue_entity.h"
#include "ue/reflective_qos.h"
#include "ue/ue_bearer.h"

namespace splitplane::ue {

// A control PDU that a bearer has to send before the next SDU of its QoS flow on another bearer.
struct UeEndMarker {
  BearerId bearer;
  std::uint8_t octet = 0;

  friend bool operator==(const UeEndMarker&, const UeEndMarker&) = default;
};
using UeEndMarkers = std::vector<UeEndMarker>;

class UeSession {
 public:
  using Ticks = ReflectiveQos::Ticks;

  explicit UeSession(Ticks rule_lifetime) : reflective_(rule_lifetime) {}

  // A bearer that is new in the session, or begins anew. It has no end markers yet (TS 37.324 5.3.1).
  void join(UeBearer& bearer, const app::InSession& place);
  // RRC's rules of a bearer that goes on. The flows of a reflective bearer follow RDI alone. A flow that no bearer has
  // any more keeps its rule, because the gNB gives each flow to another bearer.
  void follow(UeBearer& bearer, const app::InSession& place, UeEndMarkers& due);
  void leave(const UeBearer& bearer);
  [[nodiscard]] bool empty() const { return bearers_ == 0; }

  // The bearer of an uplink packet, and its SDAP header. No bearer: the flow has none, and there is no default one.
  struct Way {
    UeBearer* bearer = nullptr;
    std::uint8_t sdap = 0;
  };
  [[nodiscard]] Way send(const IpPacket& uplink, Ticks now);
  // A downlink PDU of PDCP: its SDAP header, with the rule that RDI makes.
  [[nodiscard]] ran::sdap::ReceivedByUe receive(const UeBearer& bearer, Octets pdu, UeEndMarkers& due);
  // The packet of a PDU whose RQI is set.
  void learn(const IpPacket& downlink, Qfi qfi, Ticks now) { reflective_.learn(downlink, qfi, now); }

  // What the bearer is in this session, with the uplink flows that have a rule for it now.
  [[nodiscard]] app::InSession place_of(const UeBearer& bearer) const;
  // What each flow carried, if anything. Downlink PDUs without an SDAP header have no flow, and are not among them.
  [[nodiscard]] std::vector<app::FlowView> flows() const;
  [[nodiscard]] const ran::sdap::UeEntity& entity() const { return entity_; }

 private:
  [[nodiscard]] UeBearer* at(ran::sdap::DrbId drb) const { return by_drb_[drb.value]; }
  void configure(UeBearer& bearer, const app::InSession& place);
  void note(const ran::sdap::EndMarker& marker, UeEndMarkers& due) const;

  ran::sdap::UeEntity entity_;
  ReflectiveQos reflective_;
  std::array<UeBearer*, ran::sdap::kMaxDrb + 1> by_drb_{};
  std::array<app::InSession, ran::sdap::kMaxDrb + 1> places_;
  unsigned bearers_ = 0;
  Qfi default_flow_{};  // of packets that no rule of NAS names: the key `qfi` of the default bearer
};

}  // namespace splitplane::ue

// For tests of card/ only: the reasons for which a card may punt a packet that was damaged in a known way.
#pragma once

#include <map>
#include <set>
#include <string>

#include "card/punt_reason.h"

namespace splitplane::nic::test {

// A bearer that only the host has is unknown to the card, whatever the damage. Short uplink frames are short, and some
// have another length than airhdr says. So are
// T-PDUs with a UE address if another header stands in front than the length check assumes.
inline bool may_be_punted_for(const std::string& what, PuntReason reason) {
  using enum PuntReason;
  static const std::map<std::string, std::set<PuntReason>> kDownlink{
      {"two tags", {vlan_depth}},
      {"IP options", {ip_options, udp_port}},
      {"fragment", {ip_fragment}},
      {"not UDP, or another port", {not_udp, udp_port, outer_ipv6}},
      {"unknown TEID", {}},
      {"another message", {gtpu_message}},
      {"not for us", {not_for_us}},
      {"outer IPv6", {outer_ipv6}},
      {"ARP or neighbour discovery", {arp, outer_ipv6}},
      {"extension chain", {extension_chain, psc_form, short_frame}},
      {"PDU Session Container of another form", {psc_form, extension_chain, short_frame}},
      {"container with time stamps", {psc_form, extension_chain, short_frame}},
      {"E without an extension header", {extension_chain, short_frame}},
      {"padding, or slack between the layers", {length_mismatch}},
      {"no T-PDU", {short_frame, length_mismatch}},
      {"too long for the air, or nearly", {too_long}},
  };
  static const std::map<std::string, std::set<PuntReason>> kUplink{
      {"segment, uplink", {rlc_segment}},
      {"PDCP control, uplink", {pdcp_control}},
      {"SDAP control, uplink", {sdap_control, peer_unresolved}},  // without SDAP header it is another sequence number
      {"unknown bearer, uplink", {}},
      {"wrong modes, uplink", {airhdr_form}},
      {"no frame of the air, uplink", {not_air_frame}},
      {"too long for N3, or nearly, uplink", {peer_unresolved}},
      {"usual uplink", {peer_unresolved}},
  };
  if (what.ends_with("two segments")) return reason == segmented || reason == short_frame;
  if (const auto at = kDownlink.find(what); at != kDownlink.end()) {
    return reason == teid_unknown || reason == ue_unknown || at->second.contains(reason);
  }
  const auto at = kUplink.find(what);
  return at == kUplink.end() || reason == bearer_unknown || reason == short_frame || reason == length_mismatch ||
         at->second.contains(reason);
}

}  // namespace splitplane::nic::test

#include "ran/session_fields.h"

#include <array>

namespace splitplane::ran {
namespace {

// clang-format off
constexpr std::array<fields::Field, 3> kSessionRows{
    fields::integer<&WantedSession::shard>("shard", 0, kShards - 1, {
        .help = "Put all bearers of the session in this shard", .special = "absent: the gNB chooses"}),
    fields::integer<&WantedSession::config, &SessionConfig::default_drb>("default_drb", 1, sdap::kMaxDrb, {
        .help = "DRB of the flows that have no rule, and of packets without a QFI", .clause = "TS 37.324 5.2.1",
        .required = true}),
    fields::by_hand<WantedSession>("bearers",
        R"({"type": "array", "minItems": 2, "maxItems": 8, "items": {"$ref": "#/$defs/session_bearers"}})", {
        .help = "Its bearers, 2 to 8",
        .more = "The first one has the session's TEID as its identity.", .required = true}),
};
constexpr std::array<fields::Field, 3> kBearerRows{
    fields::integer<&SessionBearer::drb>("drb", 1, sdap::kMaxDrb, {
        .help = "DRB identity, which no other bearer of the session has", .required = true}),
    fields::by_hand<SessionBearer>("flows",
        R"({"type": "array", "maxItems": 64, "uniqueItems": true, "items": {"type": "integer", "minimum": 0, "maximum": 63}})", {
        .help = "QFIs of the downlink flows that this bearer carries, 0 to 63 each", .clause = "TS 37.324 5.2.1",
        .more = "A flow stands at one bearer of the session only. The uplink has the same rules, unless the bearer is reflective."}),
    fields::flag<&SessionBearer::reflective>("reflective", {
        .help = "Set RDI in each downlink PDU: the UE sends these flows on this bearer", .clause = "TS 37.324 5.3.2",
        .brief = true}),
};
// clang-format on
constexpr fields::Fields<WantedSession> kSessionFields(kSessionRows);
constexpr fields::Fields<SessionBearer> kBearerFields(kBearerRows);

}  // namespace

fields::Fields<WantedSession> session_fields() {
  return kSessionFields;
}
fields::Fields<SessionBearer> session_bearer_fields() {
  return kBearerFields;
}

void share_tunnel(SessionConfig& session, const BearerConfig& tunnel) {
  for (SessionBearer& bearer : session.bearers) {
    BearerConfig& config = bearer.config;
    config.upf = tunnel.upf;
    config.uplink_teid = tunnel.uplink_teid;
    config.dl_teid = tunnel.dl_teid;
    config.ue_ipv4 = tunnel.ue_ipv4;
    config.ue_ipv6 = tunnel.ue_ipv6;
    config.require_psc = tunnel.require_psc;
    if (config.security) config.security->drb = bearer.drb.value;
  }
}

}  // namespace splitplane::ran

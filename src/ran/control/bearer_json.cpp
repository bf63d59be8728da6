#include "ran/control/bearer_json.h"

#include "ran/count_lease.h"

namespace splitplane::app {
namespace {

Json to_json(const DirectionView& direction) {
  return {{"received", direction.received},
          {"transmitted", direction.transmitted},
          {"dropped", direction.dropped},
          {"held", direction.held},
          {"bytes", direction.bytes}};
}

Json to_json(const datapath::ArqView& v) {
  return {{"epoch", v.epoch},
          {"failed", v.failed},
          {"tx_next_ack", v.tx_next_ack},
          {"tx_next", v.tx_next},
          {"unacked", v.unacked},
          {"unacked_most", v.retx.unacked_most},
          {"acked", v.retx.acked},
          {"nacked", v.retx.nacked},
          {"retransmitted", v.retx.pdus},
          {"retransmitted_bytes", v.retx.octets},
          {"polls_sent", v.retx.polls},
          {"poll_timeouts", v.retx.poll_timeouts},
          {"max_retx", v.retx.max_retx},
          {"polls_in_vain", v.polls_in_vain},
          {"peer_lost", v.retx.peer_lost},
          {"status_received", v.retx.status},
          {"status_stale", v.retx.status_stale},
          {"status_malformed", v.retx.status_malformed},
          {"nacks_ignored", v.retx.nacks_ignored},
          {"repair_time", v.retx.repair.counts()},
          {"rx_next", v.rx_next},
          {"rx_next_highest", v.rx_next_highest},
          {"received", v.received.pdus},
          {"delivered", v.received.sdus},
          {"duplicates", v.received.duplicates},
          {"outside_window", v.received.outside_window},
          {"no_memory", v.received.no_memory},
          {"polls_received", v.status.polls},
          {"status_sent", v.status.status},
          {"holes_reported", v.status.holes},
          {"reassembly_timeouts", v.status.reassembly_timeouts}};
}

}  // namespace

Json to_json(const ran::BearerConfig& bearer) {
  Json json{{"id", bearer.id.value},          {"shard", ran::shard_of(bearer.id.value).value},
            {"upf", bearer.upf.to_string()},  {"ul_teid", bearer.uplink_teid.value},
            {"qfi", bearer.qfi.value},        {"rlc", ran::rlc_name(bearer.rlc_mode, bearer.rlc_sn_bits)},
            {"pdcp_sn", bearer.pdcp_sn_bits}, {"sdap", {{"dl", bearer.sdap_header_dl}, {"ul", bearer.sdap_header_ul}}},
            {"poll_pdu", bearer.poll_pdu}};
  if (bearer.require_psc) json["require_psc"] = true;
  if (bearer.n3_reorder) {
    json["n3_reorder"] = {{"window", bearer.n3_reorder->window}, {"timer_ms", bearer.n3_reorder->timer_ms}};
  }
  if (bearer.rlc_mode == RlcMode::kAm) {
    json["am"] = {{"t_poll_retransmit_ms", bearer.arq.t_poll_retransmit_ms},
                  {"t_reassembly_ms", bearer.arq.t_reassembly_ms},
                  {"t_status_prohibit_ms", bearer.arq.t_status_prohibit_ms},
                  {"max_retx", bearer.arq.max_retx},
                  {"max_unacked", bearer.arq.max_unacked}};
    json["acknowledged"] = bearer.acknowledged;
  }
  if (!bearer.card.empty()) json["card"] = bearer.card;
  if (bearer.dl_teid) json["dl_teid"] = bearer.dl_teid->value;
  if (bearer.ue_ipv4) json["ue_ipv4"] = bearer.ue_ipv4->to_string();
  if (bearer.ue_ipv6) json["ue_ipv6"] = bearer.ue_ipv6->to_string();
  return json;
}

Json to_json(const BearerView& view) {
  Json json = to_json(view.config);
  json["worker"] = view.worker;
  json["downlink"] = to_json(view.downlink);
  json["uplink"] = to_json(view.uplink);
  json["pdcp_tx_next"] = view.pdcp_tx_next;
  json["count_exhausted"] = view.pdcp_tx_next == ran::kCountEnd;
  json["rlc_tx_next"] = view.rlc_tx_next;
  json["pdcp_rx_next"] = view.pdcp_rx_next;
  json["rlc_rx_next"] = view.rlc_rx_next;
  json["uplink_stopped"] = view.uplink_stopped;
  json["uplink_state"] = view.uplink_state;
  json["uplink_stops"] = view.uplink_stops;
  json["error_indications"] = view.error_indications;
  json["end_markers"] = view.end_markers;
  if (view.rlc_am) json["rlc_am"] = to_json(*view.rlc_am);
  if (view.card) {
    json["on_card"] = {{"installed", view.card->installed},
                       {"epoch", view.card->epoch},
                       {"lease_end", view.card->lease_end},
                       {"in_flight", view.card->in_flight},
                       {"returned", view.card->returned}};
  }
  return json;
}

ran::BearerConfig read_bearer(Params& params) {
  ran::BearerConfig bearer;
  params.require("upf");
  params.require("ul_teid");
  if (const auto v = params.integer("id", 0, 0xffffffff)) bearer.id.value = static_cast<std::uint32_t>(*v);
  if (const auto v = params.address("upf")) bearer.upf = *v;
  if (const auto v = params.integer("ul_teid", 1, 0xffffffff))
    bearer.uplink_teid.value = static_cast<std::uint32_t>(*v);
  if (const auto v = params.integer("qfi", 0, 63)) bearer.qfi.value = static_cast<std::uint8_t>(*v);
  if (const auto v = params.text("rlc")) {
    // An unknown name leaves a combination that ran::refuse names.
    if (!ran::parse_rlc_name(*v, bearer.rlc_mode, bearer.rlc_sn_bits)) bearer.rlc_sn_bits = 0xff;
  }
  if (const auto v = params.integer("pdcp_sn", 12, 18)) bearer.pdcp_sn_bits = static_cast<std::uint8_t>(*v);
  if (auto sdap = params.object("sdap")) {
    if (const auto v = sdap->boolean("dl")) bearer.sdap_header_dl = *v;
    if (const auto v = sdap->boolean("ul")) bearer.sdap_header_ul = *v;
    if (const auto fault = sdap->fault()) params.refuse("sdap", *fault);
  }
  if (const auto v = params.integer("poll_pdu", 0, 0xffff)) bearer.poll_pdu = static_cast<std::uint16_t>(*v);
  if (const auto v = params.boolean("require_psc")) bearer.require_psc = *v;
  if (auto reorder = params.object("n3_reorder")) {
    bearer.n3_reorder.emplace();
    if (const auto v = reorder->integer("window", 2, ran::kMaxReorderWindow))
      bearer.n3_reorder->window = static_cast<std::uint16_t>(*v);
    if (const auto v = reorder->integer("timer_ms", 1, ran::kMaxReorderTimerMs))
      bearer.n3_reorder->timer_ms = static_cast<std::uint16_t>(*v);
    if (const auto fault = reorder->fault()) params.refuse("n3_reorder", *fault);
  }
  if (auto am = params.object("am")) {
    ran::ArqConfig& arq = bearer.arq;
    if (const auto v = am->integer("t_poll_retransmit_ms", 5, 4000))
      arq.t_poll_retransmit_ms = static_cast<std::uint16_t>(*v);
    if (const auto v = am->integer("t_reassembly_ms", 0, 200)) arq.t_reassembly_ms = static_cast<std::uint16_t>(*v);
    if (const auto v = am->integer("t_status_prohibit_ms", 0, 2400))
      arq.t_status_prohibit_ms = static_cast<std::uint16_t>(*v);
    if (const auto v = am->integer("max_retx", 1, 32)) arq.max_retx = static_cast<std::uint8_t>(*v);
    if (const auto v = am->integer("max_unacked", 32, 131072)) arq.max_unacked = static_cast<std::uint32_t>(*v);
    if (const auto fault = am->fault()) params.refuse("am", *fault);
    if (bearer.rlc_mode != RlcMode::kAm) params.refuse("am", "allowed with rlc am12 or am18");
  }
  if (const auto v = params.integer("dl_teid", 1, 0xffffffff)) bearer.dl_teid = Teid{static_cast<std::uint32_t>(*v)};
  if (const auto v = params.text("card")) bearer.card = *v;
  if (const auto v = params.address("ue_ipv4")) bearer.ue_ipv4 = *v;
  if (const auto v = params.address("ue_ipv6")) bearer.ue_ipv6 = *v;
  return bearer;
}

BearerPatch read_patch(Params& params) {
  BearerPatch patch;
  if (const auto v = params.integer("ul_teid", 1, 0xffffffff)) patch.uplink_teid = Teid{static_cast<std::uint32_t>(*v)};
  patch.upf = params.address("upf");
  if (const auto v = params.integer("qfi", 0, 63)) patch.qfi = Qfi{static_cast<std::uint8_t>(*v)};
  if (const auto v = params.integer("poll_pdu", 0, 0xffff)) patch.poll_pdu = static_cast<std::uint16_t>(*v);
  return patch;
}

Expected<ran::BearerConfig> bearer_from_json(const Json& json) {
  Json known = json;
  if (known.is_object()) {
    for (const char* key : {"shard", "worker", "downlink", "uplink", "pdcp_tx_next", "count_exhausted", "rlc_tx_next",
                            "pdcp_rx_next", "rlc_rx_next", "uplink_stopped", "uplink_state", "uplink_stops",
                            "error_indications", "end_markers", "rlc_am", "on_card"}) {
      known.erase(key);
    }
  }
  bool acknowledged = false;
  if (known.is_object() && known.contains("acknowledged")) {
    acknowledged = known["acknowledged"] == true;
    known.erase("acknowledged");
  }
  Params params(known);
  auto bearer = read_bearer(params);
  bearer.acknowledged = acknowledged;
  if (const auto fault = params.fault()) return fail("{}", *fault);
  if (const auto wrong = ran::refuse(bearer)) return fail("{}", *wrong);
  return bearer;
}

}  // namespace splitplane::app

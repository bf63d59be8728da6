#include "ran/control/bearer_json.h"

#include <algorithm>
#include <array>

#include "control/field_params.h"
#include "ran/bearer_fields.h"
#include "ran/control/session_json.h"
#include "ran/count_lease.h"

namespace splitplane::app {
namespace {

Json direction_json(const DirectionView& direction) {
  return {{"received", direction.received},
          {"transmitted", direction.transmitted},
          {"dropped", direction.dropped},
          {"held", direction.held},
          {"bytes", direction.bytes}};
}

Json ecn_json(const datapath::EcnView& v) {
  return {{"ect0", v.ect0},
          {"ect1", v.ect1},
          {"marked_ect0", v.marked_ect0},
          {"marked_ect1", v.marked_ect1},
          {"queueing_most_us", v.queueing_most_us},
          {"path_us", v.path_us}};
}

Json arq_json(const datapath::ArqView& v) {
  Json json{{"epoch", v.epoch},
            {"failed", v.failed},
            {"tx_next_ack", v.tx_next_ack},
            {"tx_next", v.tx_next},
            {"unacked", v.unacked},
            {"octets_kept", v.octets_kept},
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
  json["window"] = v.in_service ? "service" : "here";
  if (v.in_service) {
    for (const char* const unknown :
         {"unacked_most", "nacked", "polls_sent", "poll_timeouts", "max_retx", "polls_in_vain", "peer_lost",
          "status_received", "status_stale", "status_malformed", "nacks_ignored", "repair_time"})
      json.erase(unknown);
  }
  if (v.ecn) json["ecn"] = ecn_json(*v.ecn);
  return json;
}

Json rlc_json(const datapath::RlcView& v) {
  Json json{{"rnti", v.rnti},
            {"lcid", v.lcid},
            {"failed", v.failed},
            {"failures", v.failures},
            {"held", v.held},
            {"volume", v.volume},
            {"given_up", v.given_up},
            {"tx_next", v.tx_next},
            {"taken", v.sent.sdus},
            {"taken_bytes", v.sent.octets},
            {"refused", v.sent.refused},
            {"pdus_sent", v.sent.pdus},
            {"segments_sent", v.sent.segments},
            {"rx_next", v.rx_next},
            {"received", v.received.pdus},
            {"segments_kept", v.received.segments},
            {"delivered", v.received.sdus},
            {"delivered_bytes", v.received.octets},
            {"copied", v.copied},
            {"no_buffer", v.no_buffer},
            {"duplicates", v.received.duplicates},
            {"outside_window", v.received.outside_window},
            {"malformed", v.received.contradictions + v.received.refused},
            {"no_memory", v.received.no_memory},
            {"segments_lost", v.received.given_up}};
  json["mac"] = {{"blocks_sent", v.mac.blocks_sent},
                 {"octets_sent", v.mac.octets_sent},
                 {"padding_octets_sent", v.mac.padding_octets_sent},
                 {"blocks_received", v.mac.blocks_received},
                 {"octets_received", v.mac.octets_received},
                 {"drops", Json::object()}};
  for (const auto& [reason, drops] : v.mac.drops) json["mac"]["drops"][std::string(reason)] = drops;
  if (!v.am) return json;
  json.update({{"tx_next_ack", v.am->tx_next_ack},
               {"unacked", v.am->unacked},
               {"pending", v.am->pending},
               {"unacked_most", v.am->retx.unacked_most},
               {"acked", v.am->retx.acked},
               {"nacked", v.am->retx.nacked},
               {"retransmitted", v.am->retx.pdus},
               {"retransmitted_bytes", v.am->retx.octets},
               {"polls_sent", v.am->retx.polls},
               {"poll_timeouts", v.am->retx.poll_timeouts},
               {"max_retx", v.am->retx.max_retx},
               {"status_received", v.am->retx.status},
               {"status_stale", v.am->retx.status_stale},
               {"status_malformed", v.am->retx.status_malformed},
               {"polls_received", v.am->status.polls},
               {"status_sent", v.am->status.status},
               {"reassembly_timeouts", v.am->status.reassembly_timeouts}});
  return json;
}

}  // namespace

Json to_json(const ran::BearerConfig& bearer) {
  Json json{{"shard", ran::shard_of(bearer.id.value).value}};
  write_fields(json, ran::bearer_fields(ran::kInRequest), bearer);
  if (bearer.rlc_mode == RlcMode::kAm) json["acknowledged"] = bearer.acknowledged;
  return json;
}

Json to_json(const BearerView& view) {
  Json json = to_json(view.config);
  json["worker"] = view.worker;
  json["downlink"] = direction_json(view.downlink);
  json["uplink"] = direction_json(view.uplink);
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
  if (view.epoch) json["epoch"] = *view.epoch;
  if (view.rlc_am) json["rlc_am"] = arq_json(*view.rlc_am);
  if (view.rlc) json["rlc_full"] = rlc_json(*view.rlc);
  if (view.session) json["session"] = to_json(*view.session);
  if (!view.session_flows.empty()) json["session"]["flows_counted"] = flows_counted(view.session_flows);
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
  read_fields(params, ran::bearer_fields(ran::kInRequest), bearer);
  return bearer;
}

BearerPatch read_patch(Params& params) {
  const auto rows = ran::bearer_fields(ran::kInChange);
  ran::BearerConfig values;
  const auto given = read_fields(params, rows, values);
  BearerPatch patch;
  for (const fields::Field* field : rows.list()) {
    if (std::ranges::count(given, field->name) != 0) patch.changes.emplace_back(field, field->get(&values));
  }
  return patch;
}

Expected<ran::BearerConfig> bearer_from_json(const Json& json) {
  // What a view has beside the bearer's configuration.
  static constexpr std::array<std::string_view, 20> kOfView{
      "acknowledged",   "shard",           "worker",       "downlink",          "uplink",
      "pdcp_tx_next",   "count_exhausted", "rlc_tx_next",  "pdcp_rx_next",      "rlc_rx_next",
      "uplink_stopped", "uplink_state",    "uplink_stops", "error_indications", "end_markers",
      "epoch",          "rlc_am",          "rlc_full",     "on_card",           "session"};
  Json known = json.is_object() ? Json::object() : json;
  bool acknowledged = false;
  if (json.is_object()) {
    acknowledged = json.value("acknowledged", Json()) == true;
    for (const auto& [key, value] : json.items()) {
      if (std::ranges::find(kOfView, key) == kOfView.end()) known.emplace(key, value);
    }
  }
  Params params(known);
  auto bearer = read_bearer(params);
  bearer.acknowledged = acknowledged;
  if (const auto fault = params.fault()) return fail("{}", *fault);
  if (const auto wrong = ran::refuse(bearer)) return fail("{}", *wrong);
  return bearer;
}

}  // namespace splitplane::app

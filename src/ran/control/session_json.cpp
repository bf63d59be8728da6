#include "ran/control/session_json.h"

#include <algorithm>
#include <map>

#include "control/field_params.h"
#include "ran/bearer_fields.h"
#include "ran/control/bearer_json.h"
#include "ran/session_fields.h"

namespace splitplane::app {
namespace {

constexpr std::size_t kMaxBearers = 64;  // in a request; ran::refuse_wanted() has the limit of a session

Json flows_json(const std::vector<Qfi>& flows) {
  Json list = Json::array();
  for (const Qfi qfi : flows) list.push_back(qfi.value);
  return list;
}

std::vector<Qfi> read_flows(Params& params) {
  std::vector<Qfi> flows;
  const Json* list = params.list("flows", ran::sdap::kFlows);
  if (list == nullptr) return flows;
  for (const Json& one : *list) {
    if (!one.is_number_unsigned() || one.get<std::uint64_t>() >= ran::sdap::kFlows) {
      params.refuse("flows", fmt::format("allowed are integers from 0 to {}", ran::sdap::kFlows - 1));
      break;
    }
    flows.push_back(Qfi{one.get<std::uint8_t>()});
  }
  return flows;
}

ran::SessionBearer read_session_bearer(Params& params) {
  ran::SessionBearer bearer;
  read_fields(params, ran::session_bearer_fields(), bearer);
  read_fields(params, ran::bearer_fields(ran::kOfDrb), bearer.config);
  bearer.flows = read_flows(params);
  return bearer;
}

// What is the same at each bearer, and what differs.
Json tunnel_json(const ran::SessionConfig& session) {
  const ran::BearerConfig& first = session.bearers.front().config;
  Json json{{"id", session.teid().value},
            {"shard", ran::shard_of(session.teid().value).value},
            {"default_drb", session.default_drb.value}};
  write_fields(json, ran::bearer_fields(ran::kOfSession), first);
  return json;
}

Json bearer_json(const ran::SessionBearer& bearer) {
  Json json{{"id", bearer.config.id.value}, {"flows", flows_json(bearer.flows)}};
  write_fields(json, ran::session_bearer_fields(), bearer);
  write_fields(json, ran::bearer_fields(ran::kOfDrb), bearer.config);
  return json;
}

}  // namespace

Json to_json(const ran::SessionConfig& session) {
  Json json = tunnel_json(session);
  Json& bearers = json["bearers"] = Json::array();
  for (const ran::SessionBearer& one : session.bearers) bearers.push_back(bearer_json(one));
  return json;
}

Json to_json(const SessionView& view) {
  Json json = tunnel_json(view.config);
  Json& bearers = json["bearers"] = Json::array();
  for (std::size_t i = 0; i < view.bearers.size(); ++i) {
    Json row = bearer_json(view.config.bearers[i]);
    Json counted = to_json(view.bearers[i]);
    counted.erase("session");
    for (const auto& [key, value] : counted.items()) {
      if (!json.contains(key) || key == "id") row[key] = value;  // the tunnel's keys stand above
    }
    bearers.push_back(std::move(row));
  }
  json["flows_counted"] = flows_counted(view.flows);
  return json;
}

Json flows_counted(const std::vector<FlowView>& flows) {
  const auto direction = [](const ran::sdap::FlowCount& count) {
    return Json{{"sdus", count.sdus}, {"bytes", count.octets}};
  };
  Json list = Json::array();
  for (const FlowView& flow : flows) {
    list.push_back({{"qfi", flow.qfi.value},
                    {"drb", flow.drb.value},
                    {"downlink", direction(flow.downlink)},
                    {"uplink", direction(flow.uplink)}});
  }
  return list;
}

Json to_json(const InSession& place) {
  return {{"id", place.teid.value},      {"spare", place.spare.value},     {"drb", place.drb.value},
          {"default", place.is_default}, {"reflective", place.reflective}, {"flows", flows_json(place.flows)}};
}

ran::WantedSession read_session(Params& params) {
  ran::WantedSession session;
  ran::BearerConfig tunnel;
  read_fields(params, ran::session_fields(), session);
  read_fields(params, ran::bearer_fields(ran::kOfSession), tunnel);
  const Json* const list = params.list("bearers", kMaxBearers);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    Params one((*list)[i]);
    session.config.bearers.push_back(read_session_bearer(one));
    if (const auto fault = one.fault()) params.refuse(fmt::format("bearers[{}]", i), *fault);
  }
  share_tunnel(session.config, tunnel);
  return session;
}

Expected<std::optional<InSession>> session_of(const Json& bearer) {
  const auto at = bearer.find("session");
  if (at == bearer.end()) return std::optional<InSession>{};
  Params params(*at);
  InSession place;
  place.teid.value = static_cast<std::uint32_t>(params.integer("id", 1, 0xffffffff).value_or(0));
  place.spare.value = static_cast<std::uint32_t>(params.integer("spare", 1, 0xffffffff).value_or(0));
  place.is_default = params.boolean("default").value_or(false);
  place.flows = read_flows(params);
  ran::SessionBearer its;
  read_fields(params, ran::session_bearer_fields(), its);
  place.drb = its.drb;
  place.reflective = its.reflective;
  if (const auto fault = params.fault()) return fail("session: {}", *fault);
  return place;
}

Expected<std::vector<ran::WantedSession>> sessions_from_json(const std::vector<Json>& bearers) {
  std::map<std::uint32_t, ran::WantedSession> sessions;
  for (const Json& row : bearers) {
    const auto config = bearer_from_json(row);
    if (!config) return tl::unexpected(config.error());
    const auto place = session_of(row);
    if (!place) return tl::unexpected(place.error());
    if (!*place) return fail("session: is missing");
    const InSession& its = **place;
    ran::SessionConfig& session = sessions[its.teid.value].config;
    session.spare = its.spare;
    if (its.is_default) session.default_drb = its.drb;
    // Its first bearer has the session's identity.
    const bool is_first = config->id.value == its.teid.value;
    session.bearers.insert(is_first ? session.bearers.begin() : session.bearers.end(),
                           {.drb = its.drb, .config = *config, .flows = its.flows, .reflective = its.reflective});
  }
  std::vector<ran::WantedSession> all;
  for (auto& [teid, session] : sessions) {
    if (const auto wrong = ran::refuse(session.config)) return fail("session {:#010x}: {}", teid, *wrong);
    all.push_back(std::move(session));
  }
  return all;
}

}  // namespace splitplane::app

#include "guard/control/report.h"

#include <fmt/format.h>
#include <rte_cycles.h>

#include <algorithm>

#include "control/field_params.h"
#include "guard/config/fields.h"
#include "guard/config/server_text.h"
#include "observe/stats_json.h"

namespace splitplane::app {
namespace {

using guard::Side;

constexpr std::array<std::string_view, 5> kFlowStates{"free", "connecting", "established", "closing",
                                                      "closed"};  // as guard::FlowState

// What people want to know first: whether it acts.
std::string_view state_of(const guard::ServerRule& rule, bool armed) {
  if (rule.mode == guard::Mode::kBypass) return "bypassed";
  if (rule.mode == guard::Mode::kObserve) return "observed";
  return armed ? "armed" : "at rest";
}

template <std::size_t N>
Json counted(const std::array<std::uint64_t, N>& counts, const std::array<std::string_view, N>& names) {
  Json json = Json::object();
  for (std::size_t i = 0; i < N; ++i) {
    if (counts[i] != 0) json[std::string(names[i])] = counts[i];
  }
  return json;
}

Json side_json(const GuardSeen& seen, Side side) {
  return counted(seen.outcomes[static_cast<std::size_t>(side)], guard::kOutcomeNames);
}

// Of both sides, by reason.
Json drops_json(const GuardSeen& seen) {
  Json drops = Json::object();
  for (std::size_t i = 0; i < guard::kOutcomeCount; ++i) {
    const std::uint64_t n = seen.outcomes[0][i] + seen.outcomes[1][i];
    const auto outcome = static_cast<guard::Outcome>(i);
    if (n != 0 && fate_of(outcome) == GuardFate::kDropped) drops[std::string(guard::name_of(outcome))] = n;
  }
  return drops;
}

Json worker_json(const GuardSeen& seen) {
  const std::uint64_t received = seen.received_total();
  const WorkerSnapshot& loop = seen.loop;
  Json row{{"name", seen.name},
           {"core", seen.core},
           {"received", received},
           {"transmitted", seen.sum(GuardFate::kSent)},
           {"dropped", seen.sum(GuardFate::kDropped)},
           {"consumed", seen.sum(GuardFate::kConsumed)},
           {"held", 0},
           {"balanced", seen.balanced()},
           {"stages", Json::array()},
           {"drops", drops_json(seen)},
           {"from_clients", side_json(seen, Side::kClient)},
           {"from_servers", side_json(seen, Side::kServer)},
           {"made", counted(seen.made, guard::kMadeNames)},
           {"cycles", {{"busy", loop.busy_cycles}, {"idle", loop.idle_cycles}, {"asleep", loop.asleep_cycles}}},
           {"cpu_cycles", seen.cpu_cycles},
           {"silent_s", seen.silent_s},
           {"rounds", loop.rounds},
           {"sleeps", loop.sleeps},
           {"wakeups", loop.wakeups},
           {"cycles_per_packet",
            received == 0 ? 0.0 : static_cast<double>(loop.busy_cycles) / static_cast<double>(received)}};
#define SPLITPLANE_GUARD_TO_JSON(field, unit, help) row[#field] = seen.field;
  SPLITPLANE_GUARD_COUNTERS(SPLITPLANE_GUARD_TO_JSON)
  SPLITPLANE_GUARD_GAUGES(SPLITPLANE_GUARD_TO_JSON)
#undef SPLITPLANE_GUARD_TO_JSON
  return row;
}

std::string end_text(bool is_v6, const std::array<std::uint8_t, 16>& octets, std::uint16_t port) {
  if (!is_v6)
    return fmt::format("{}:{}", IpAddress::v4({octets[0], octets[1], octets[2], octets[3]}).to_string(), port);
  return fmt::format("[{}]:{}", IpAddress::v6(octets).to_string(), port);
}

std::string options_text(const guard::Flow& flow) {
  std::string text;
  const auto add = [&](std::uint8_t flag, std::string_view name) {
    if ((flow.flags & flag) != 0) text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
  };
  add(guard::Flow::kHasTimestamps, "timestamps");
  add(guard::Flow::kSackPermitted, "SACK");
  if ((flow.flags & guard::Flow::kHasScale) != 0)
    text += fmt::format("{}scale {}", text.empty() ? "" : ", ", flow.server_scale);
  add(guard::Flow::kEcn, "ECN");
  return text.empty() ? "none" : text;
}

const GuardServerSeen* find_server(const GuardSeen& seen, const std::string& name) {
  const auto at = std::ranges::find(seen.servers, name, [](const GuardServerSeen& s) { return s.rule.name; });
  return at == seen.servers.end() ? nullptr : &*at;
}

}  // namespace

Json server_json(const guard::ServerRule& rule, std::span<const GuardSeen> seen) {
  GuardServerSeen all{.rule = rule};
  double syns = 0, half_open = 0;  // half open: the mean, weighted by SYNs
  all.window_scale = guard::ProtectedServer::kNoScale;
  for (const GuardSeen& worker : seen) {
    const GuardServerSeen* const one = find_server(worker, rule.name);
    if (one == nullptr) continue;
#define SPLITPLANE_GUARD_SUM(field, unit, help) all.field += one->field;
    SPLITPLANE_GUARD_SERVER_COUNTERS(SPLITPLANE_GUARD_SUM)
#undef SPLITPLANE_GUARD_SUM
    all.armed = std::max(all.armed, one->armed);
    all.hold_seconds = std::max(all.hold_seconds, one->hold_seconds);
    all.mss = std::max(all.mss, one->mss);
    all.window_scale = std::min(all.window_scale, one->window_scale);
    syns += static_cast<double>(one->syns_per_second);
    half_open += static_cast<double>(one->syns_per_second * one->half_open_percent);
  }
  all.syns_per_second = static_cast<std::uint64_t>(syns);
  all.half_open_percent = syns == 0 ? 0 : static_cast<std::uint64_t>(half_open / syns);
  Json json = Json::object();
#define SPLITPLANE_GUARD_TO_JSON(field, unit, help) json[#field] = all.field;
  SPLITPLANE_GUARD_SERVER_COUNTERS(SPLITPLANE_GUARD_TO_JSON)
  SPLITPLANE_GUARD_SERVER_GAUGES(SPLITPLANE_GUARD_TO_JSON)
#undef SPLITPLANE_GUARD_TO_JSON
  if (all.mss == 0) json["mss"] = nullptr;
  if (all.window_scale == guard::ProtectedServer::kNoScale) json["window_scale"] = nullptr;
  json["armed"] = all.armed != 0;
  Json settings = Json::object();
  write_fields(settings, guard_server_fields().where(kServerChange), rule);
  json.update({{"name", rule.name},
               {"address", address_text(rule)},
               {"ports", ports_text(rule)},
               {"mode", guard::name_of(rule.mode)},
               {"state", state_of(rule, all.armed != 0)},
               {"settings", std::move(settings)}});
  return json;
}

Json guard_json(std::span<const guard::ServerRule> rules, std::span<const GuardSeen> seen, unsigned key_seconds) {
  Json servers = Json::array();
  for (const guard::ServerRule& rule : rules) servers.push_back(server_json(rule, seen));
  GuardSeen all;
  for (const GuardSeen& worker : seen) {
#define SPLITPLANE_GUARD_SUM(field, unit, help) all.field += worker.field;
    SPLITPLANE_GUARD_COUNTERS(SPLITPLANE_GUARD_SUM)
    SPLITPLANE_GUARD_GAUGES(SPLITPLANE_GUARD_SUM)
#undef SPLITPLANE_GUARD_SUM
  }
  return {{"workers", seen.size()},
          {"servers", std::move(servers)},
          {"sources",
           {{"entries", all.source_entries},
            {"live", all.sources_live},
            {"inserted", all.sources_inserted},
            {"evicted", all.sources_evicted},
            {"refused", all.sources_refused}}},
          {"flows",
           {{"entries", all.flow_entries},
            {"used", all.flows_used},
            {"inserted", all.flows_inserted},
            {"refused", all.flows_refused},
            {"expired", all.flows_expired}}},
          {"keys", {{"seconds", key_seconds}, {"rotations", all.key_rotations}}}};
}

Json flow_json(const guard::Flow& flow, std::uint32_t now) {
  const bool is_v6 = flow.is_v6 != 0;
  return {{"client", end_text(is_v6, flow.client, flow.client_port)},
          {"server", end_text(is_v6, flow.server, flow.server_port)},
          {"vlan", flow.vlan},
          {"state", kFlowStates[std::min(static_cast<std::size_t>(flow.state), kFlowStates.size() - 1)]},
          {"silent_s", guard::age(now, flow.seen)},
          {"options", options_text(flow)}};
}

Json stats_json(std::span<const GuardSeen> seen, std::span<const PortObservation> ports, Json guard) {
  Json workers = Json::array(), port_rows = Json::array();
  std::uint64_t received = 0, sent = 0, dropped = 0, consumed = 0;
  bool balanced = true;
  for (const GuardSeen& worker : seen) {
    workers.push_back(worker_json(worker));
    received += worker.received_total();
    sent += worker.sum(GuardFate::kSent);
    dropped += worker.sum(GuardFate::kDropped);
    consumed += worker.sum(GuardFate::kConsumed);
    balanced = balanced && worker.balanced();
  }
  for (const PortObservation& port : ports) port_rows.push_back(to_json(port));
  return {{"ports", std::move(port_rows)},
          {"workers", std::move(workers)},
          {"tsc_hz", rte_get_tsc_hz()},
          {"totals",
           {{"received", received},
            {"transmitted", sent},
            {"dropped", dropped},
            {"consumed", consumed},
            {"held", 0},
            {"balanced", balanced}}},
          {"guard", std::move(guard)}};
}

std::string guard_summary(const Json& stats) {
  const Json& totals = stats.at("totals");
  std::string drops;
  for (const Json& worker : stats.at("workers")) {
    for (const auto& [name, n] : worker.at("drops").items())
      drops += fmt::format("{}{} {}", drops.empty() ? " (" : ", ", name, n.dump());
  }
  std::string text =
      fmt::format("guard: {} received, {} sent, {} proofs consumed, {} dropped{}\n", totals.at("received").dump(),
                  totals.at("transmitted").dump(), totals.at("consumed").dump(), totals.at("dropped").dump(),
                  drops.empty() ? "" : drops + ")");
  for (const Json& server : stats.at("guard").at("servers")) {
    text += fmt::format("guard: {}: {} SYNs, {} challenged, {} proved, armed {} times\n",
                        server.at("name").get<std::string>(), server.at("syns").dump(), server.at("challenged").dump(),
                        server.at("proved").dump(), server.at("armings").dump());
  }
  if (!totals.at("balanced").get<bool>()) text += "guard: THE COUNTERS DO NOT ADD UP\n";
  return text;
}

}  // namespace splitplane::app

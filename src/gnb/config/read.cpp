#include "gnb/config/read.h"

#include <algorithm>
#include <charconv>

#include "baas/shared.h"
#include "base/paths.h"
#include "base/text.h"
#include "config/yaml_fields.h"
#include "gnb/config/check.h"
#include "gnb/config/fields.h"
#include "power/sensor/choose.h"
#include "ran/bearer_fields.h"
#include "ran/session_fields.h"
#include "runtime/config/loop_fields.h"
#include "runtime/config/read.h"
#include "tap/settings_fields.h"

namespace splitplane::app {
namespace {

using Function = WorkerConfig::Function;

constexpr unsigned kProgramKeys = kServed | kObserved | kPorted;

std::string read_journal_path(const YamlValue& value) {
  const std::string allowed = "none, or a path from / on, of at most 200 octets";
  std::string path = value.text(allowed);
  if (path == "none") return {};
  if (!path.starts_with('/') || path.ends_with('/') || path.size() > 200)
    value.refuse(fmt::format("'{}' is no such path", printable(path)), allowed);
  return path;
}

// "0-127": a first and a last shard.
void read_shards(const YamlValue& value, WorkerConfig& worker) {
  const std::string allowed = "a range such as 0-127 within 0-255";
  const std::string text = value.text(allowed);
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, worker.shard_first);
  const bool dash = first.ec == std::errc{} && first.ptr != end && *first.ptr == '-';
  const auto last = std::from_chars(dash ? first.ptr + 1 : end, end, worker.shard_last);
  if (!dash || last.ec != std::errc{} || last.ptr != end || worker.shard_first > worker.shard_last ||
      worker.shard_last >= ran::kShards) {
    value.refuse(fmt::format("'{}' is no range of shards", printable(text)), allowed);
  }
}

WorkerConfig read_worker(const std::string& name, const YamlValue& value) {
  const YamlMap map = value.map(worker_fields().names());
  WorkerConfig worker;
  worker.name = name;
  const std::size_t function = map.required("function").one_of(kFunctionNames);
  const auto rows = worker_fields().where(bit(static_cast<Function>(function)));
  map.only(rows.names(), fmt::format("does not belong to function {}", kFunctionNames[function]));
  read_fields(map, rows, worker);
  read_policy(map, worker.policy);
  check_schedule(map, worker.schedule);
  if (worker.function == Function::kL2fwd) (void)map.required("rx");
  if (worker.function == Function::kCopies && worker.rx.empty()) (void)map.required("from");
  if (const auto v = map.find("shards")) read_shards(*v, worker);
  const bool has_air = worker.function == Function::kDispatch ||
                       (worker.function == Function::kGnb && worker.features != datapath::FeatureSet::full);
  if (has_air) (void)map.required("air");
  if (const auto v = map.find("air"); v && !has_air)
    v->refuse("stands with features: full, which has no header mode", "without air; phy says what is there instead");
  if (const auto v = map.find("phy")) {
    if (worker.features != datapath::FeatureSet::full)
      v->refuse("stands with features that have no MAC", "with features: full");
    read_fields(v->map(phy_fields().names()), phy_fields(), worker.phy.emplace());
  }
  if (worker.baas != WorkerConfig::Baas::kNone && worker.features != datapath::FeatureSet::clone)
    map.required("baas").refuse("stands with features that have no copies", "none, or features: clone");
  return worker;
}

std::vector<WorkerConfig> read_workers(const YamlValue& value) {
  std::vector<WorkerConfig> workers;
  for (const auto& [name, entry] : value.named()) workers.push_back(read_worker(name, entry));
  if (workers.empty()) value.refuse("is empty", "at least one worker");
  return workers;
}

ran::BearerGroup read_group(const YamlValue& value) {
  const auto bearer_fields = ran::bearer_fields(ran::kInFile);
  const YamlMap map = value.map(names_of(group_fields(), bearer_fields));
  ran::BearerGroup group;
  read_fields(map, group_fields(), group);
  read_fields(map, bearer_fields, group.first);
  if (const auto wrong = ran::refuse(group.first)) throw Refusal{value.line(), value.key(), *wrong};
  return group;
}

std::vector<ran::BearerGroup> read_bearers(const YamlValue& value) {
  std::vector<ran::BearerGroup> groups;
  for (const auto& entry : value.list()) groups.push_back(read_group(entry));
  return groups;
}

std::vector<Qfi> read_flows(const YamlValue& value) {
  std::vector<Qfi> flows;
  for (const auto& entry : value.list()) {
    flows.push_back(Qfi{static_cast<std::uint8_t>(entry.integer(0, ran::sdap::kFlows - 1))});
  }
  return flows;
}

ran::SessionBearer read_session_bearer(const YamlValue& value) {
  const auto bearer_fields = ran::bearer_fields(ran::kOfDrb);
  const YamlMap map = value.map(names_of(ran::session_bearer_fields(), bearer_fields));
  ran::SessionBearer bearer;
  read_fields(map, ran::session_bearer_fields(), bearer);
  read_fields(map, bearer_fields, bearer.config);
  if (const auto v = map.find("flows")) bearer.flows = read_flows(*v);
  return bearer;
}

ran::WantedSession read_session(const YamlValue& value) {
  const auto tunnel_fields = ran::bearer_fields(ran::kOfSession);
  const YamlMap map = value.map(names_of(ran::session_fields(), tunnel_fields));
  ran::WantedSession session;
  ran::BearerConfig tunnel;
  read_fields(map, ran::session_fields(), session);
  read_fields(map, tunnel_fields, tunnel);
  for (const auto& entry : map.required("bearers").list()) {
    session.config.bearers.push_back(read_session_bearer(entry));
  }
  share_tunnel(session.config, tunnel);
  if (const auto wrong = ran::refuse_wanted(session.config)) throw Refusal{value.line(), value.key(), *wrong};
  return session;
}

std::vector<ran::WantedSession> read_sessions(const YamlValue& value) {
  std::vector<ran::WantedSession> sessions;
  for (const auto& entry : value.list()) sessions.push_back(read_session(entry));
  return sessions;
}

std::vector<CardLinkConfig> read_cards(const YamlValue& value) {
  std::vector<CardLinkConfig> cards;
  for (const auto& [name, entry] : value.named()) {
    cards.push_back({.name = name});
    read_fields(entry.map(card_link_fields().names()), card_link_fields(), cards.back());
  }
  return cards;
}

BaasConfig read_baas(const YamlValue& value) {
  const YamlMap map = value.map(baas_fields().names());
  BaasConfig baas;
  read_fields(map, baas_fields(), baas);
  read_policy(map, baas.policy);
  check_schedule(map, baas.schedule);
  if (const auto v = map.find("metrics")) {
    baas.metrics = read_metrics(*v);
    if (baas.metrics->bearers != 0) v->refuse("has bearers, which the service does not count", "listen alone");
  }
  const YamlValue cores = map.required("cores");
  for (const auto& item : cores.list()) {
    const auto core = static_cast<unsigned>(item.integer(0, kMaxCore));
    if (std::ranges::count(baas.cores, core) != 0) item.refuse(fmt::format("is core {} again", core), "each core once");
    baas.cores.push_back(core);
  }
  if (baas.cores.empty() || baas.cores.size() > baas::kMostCores)
    cores.refuse(fmt::format("has {} cores", baas.cores.size()), fmt::format("1 to {}", baas::kMostCores));
  return baas;
}

PowerConfig read_power(const YamlValue& value) {
  const YamlMap map = value.map(power_fields().names());
  PowerConfig power;
  read_fields(map, power_fields(), power);
  if (const auto v = map.find("sensor")) {
    power.sensor = v->text(std::string(sensor::kSourceWords));
    if (!sensor::is_source_word(power.sensor))
      v->refuse(fmt::format("'{}' is unknown", printable(power.sensor)), std::string(sensor::kSourceWords));
  }
  if (map.find("unmetered_watts") && !power.supply_watts)
    map.required("unmetered_watts").refuse("stands without supply_watts", "with supply_watts");
  return power;
}

void read_file(const YamlValue& top, GnbConfig& config) {
  const YamlMap map = top.map(gnb_keys());
  read_program(map, kProgramKeys, config);
  config.journal = journal_path(config.file_prefix);
  if (const auto v = map.find("journal")) config.journal = read_journal_path(*v);
  read_fields(map, gnb_fields(), config);
  if (config.max_bearers % ran::kShards != 0) {
    map.required("max_bearers")
        .refuse(fmt::format("{} cannot be shared evenly", config.max_bearers),
                fmt::format("a multiple of {}", ran::kShards));
  }
  if (const auto v = map.find("n3")) config.n3 = read_list(*v, n3_fields());
  if (const auto v = map.find("air")) config.air = read_list(*v, air_fields());
  const auto cards = map.find("cards");
  if (cards && !map.find("workers"))
    cards->refuse("stands in a file without workers", "with workers, or card, the section of `splitplane card`");
  config.workers = read_workers(map.required("workers"));
  if (const auto& v = cards) config.cards = read_cards(*v);
  if (const auto v = map.find("baas")) config.baas = read_baas(*v);
  if (const auto v = map.find("power")) config.power = read_power(*v);
  if (const auto v = map.find("placement")) {
    const YamlMap placement = v->map(placement_fields().names());
    read_fields(placement, placement_fields(), config.placement);
    if (const auto pins = placement.find("pin")) config.pins = read_list(*pins, pin_fields());
  }
  if (const auto v = map.find("bearers")) config.bearers = read_bearers(*v);
  if (const auto v = map.find("sessions")) config.sessions = read_sessions(*v);
  if (const auto v = map.find("taps")) config.taps = read_list(*v, tap::settings_fields());
}

}  // namespace

std::vector<std::string_view> gnb_keys() {
  return names_of(program_fields(kProgramKeys), gnb_fields());
}

Expected<GnbConfig> read_gnb(const Document& document) {
  return make_config<GnbConfig>(document, read_file, check_gnb);
}

}  // namespace splitplane::app

#include "cli/top/rates.h"

#include <algorithm>
#include <map>

#include "cli/command/answer.h"

namespace splitplane::app {
namespace {

std::string text(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

// The row of a list of objects that has this name.
const Json& named(const Json& rows, const std::string& name) {
  if (rows.is_array()) {
    for (const auto& row : rows) {
      if (text(row, "name") == name) return row;
    }
  }
  return nothing();
}

std::uint64_t grown(const Json& before, const Json& after, const char* key) {
  const std::uint64_t a = number(before, key), b = number(after, key);
  return b >= a ? b - a : b;
}

std::optional<double> ratio(std::uint64_t a, std::uint64_t b) {
  if (b == 0) return std::nullopt;
  return static_cast<double>(a) / static_cast<double>(b);
}

WorkerRate worker_rate(const Json& before, const Json& after, double seconds) {
  const auto rate = [&](const char* key) { return static_cast<double>(grown(before, after, key)) / seconds; };
  const Json& then = member(before, "cycles");
  const Json& now = member(after, "cycles");
  const std::uint64_t busy = grown(then, now, "busy"), idle = grown(then, now, "idle"),
                      asleep = grown(then, now, "asleep");
  const std::uint64_t all = busy + idle + asleep;
  return {.name = text(after, "name"),
          .core = number(after, "core"),
          .received = rate("received"),
          .transmitted = rate("transmitted"),
          .dropped = rate("dropped"),
          .cycles_per_packet = ratio(busy, grown(before, after, "received")),
          .busy = ratio(busy, all).value_or(0),
          .idle = ratio(idle, all).value_or(0),
          .asleep = ratio(asleep, all).value_or(0),
          .cpu = after.contains("cpu_cycles") ? ratio(grown(before, after, "cpu_cycles"), all) : std::nullopt,
          .silent_s = number(after, "silent_s")};
}

void add_stages(const Json& before, const Json& after, double seconds, const WorkerRate& worker,
                std::vector<StageRate>& out) {
  const std::size_t first = out.size();
  double timed = 0;  // of a received packet's cycles
  if (member(after, "stages").empty()) return;
  out.push_back({.worker = text(after, "name"),
                 .stage = kReceiveStage,
                 .packets = worker.received,
                 .total = number(after, "received")});
  for (const auto& stage : member(after, "stages")) {
    const Json& then = named(member(before, "stages"), text(stage, "name"));
    StageRate& row = out.emplace_back(StageRate{
        .worker = text(after, "name"),
        .stage = text(stage, "name"),
        .packets = static_cast<double>(grown(then, stage, "packets")) / seconds,
        .cycles_per_packet = ratio(grown(then, stage, "sampled_cycles"), grown(then, stage, "sampled_packets")),
        .total = number(stage, "packets")});
    if (!row.cycles_per_packet || worker.received <= 0) continue;
    row.part = *row.cycles_per_packet * row.packets / worker.received;
    timed += *row.part;
  }
  // The stages are timed on one burst in 16, so what is left may come out a little below 0.
  if (worker.cycles_per_packet) out[first].part = std::max(0.0, *worker.cycles_per_packet - timed);
  out[first].cycles_per_packet = out[first].part;
}

void add_drops(const Json& before, const Json& after, double seconds, std::vector<DropRate>& out) {
  const Json& now = member(after, "drops");
  for (const auto& [reason, count] : now.items()) {
    const double packets = static_cast<double>(grown(member(before, "drops"), now, reason.c_str())) / seconds;
    out.push_back({text(after, "name"), reason, packets, number(now, reason.c_str())});
  }
}

PortRate port_rate(const Json& before, const Json& after, double seconds) {
  const auto rate = [&](const char* key) { return static_cast<double>(grown(before, after, key)) / seconds; };
  PortRate port{.name = text(after, "name"),
                .rx_packets = rate("received"),
                .tx_packets = rate("transmitted"),
                .rx_bits = 8 * rate("received_bytes"),
                .tx_bits = 8 * rate("transmitted_bytes"),
                .missed = rate("rx_missed"),
                .missed_total = number(after, "rx_missed")};
  for (const char* key : {"rx_errors", "tx_errors", "rx_no_mbuf"}) {
    port.errors += rate(key);
    port.errors_total += number(after, key);
  }
  return port;
}

BufferingRate buffering_rate(const std::string& name, const Json& before, const Json& after, double seconds) {
  const auto rate = [&](const char* key) { return static_cast<double>(grown(before, after, key)) / seconds; };
  return {.name = name,
          .held = number(after, "held"),
          .told = rate("copies") + rate("without_copy"),
          .acknowledged = rate("released"),
          .withdrawn = rate("withdrawn"),
          .sent_again = rate("sent_again"),
          .sent_again_total = number(after, "sent_again")};
}

PlacementRate placement_rate(const Json& before, const Json& after, double seconds) {
  const Json& load = member(after, "load");
  const Json& on_cards = member(after, "load_on_cards");
  const bool has_load = load.is_number() && on_cards.is_number() && load.get<double>() > 0;
  return {.mode = text(after, "mode"),
          .bearers = number(after, "bearers"),
          .on_cards = number(after, "on_cards"),
          .pinned = number(after, "pinned"),
          .load_on_cards = has_load ? on_cards.get<double>() / load.get<double>() : 0,
          .moves = static_cast<double>(grown(before, after, "to_card") + grown(before, after, "to_host")) / seconds,
          .to_card = number(after, "to_card"),
          .to_host = number(after, "to_host"),
          .failed = number(after, "failed"),
          .refused = number(after, "refused"),
          .held = number(after, "packets"),
          .longest_hold_us = number(after, "longest_hold_us")};
}

GuardRate guard_rate(const Json& before, const Json& after, double seconds) {
  const auto rate = [&](const char* key) { return static_cast<double>(grown(before, after, key)) / seconds; };
  return {.name = text(after, "name"),
          .mode = text(after, "mode"),
          .state = text(after, "state"),
          .syns = rate("syns"),
          .unknown = rate("unknown_syns"),
          .challenged = rate("challenged"),
          .proved = rate("proved"),
          .dropped = rate("dropped"),
          .half_open_percent = number(after, "half_open_percent"),
          .armings = number(after, "armings")};
}

void add_guard(const Json& before, const Json& after, double seconds, Rates& rates) {
  if (!after.is_object() || after.empty()) return;
  const Json &sources = member(after, "sources"), &flows = member(after, "flows");
  rates.guard = {number(sources, "live"), number(sources, "entries"), number(flows, "used"), number(flows, "entries")};
  for (const auto& server : member(after, "servers"))
    rates.guarded.push_back(guard_rate(named(member(before, "servers"), text(server, "name")), server, seconds));
}

// "QFI 5 6", "others" for the default DRB; empty for a bearer that is a session by itself.
std::string flows_of(const Json& session) {
  std::string text;
  for (const Json& qfi : member(session, "flows")) text += (text.empty() ? "QFI " : " ") + qfi.dump();
  if (member(session, "default") == true) text += text.empty() ? "others" : " others";
  return text;
}

}  // namespace

Rates rates_between(const Json& before, const Json& after, double seconds) {
  Rates rates{.seconds = seconds, .bearers = number(after, "bearers")};
  const Json& balanced = member(member(after, "totals"), "balanced");
  rates.balanced = !balanced.is_boolean() || balanced.get<bool>();
  if (seconds <= 0) return rates;
  for (const auto& worker : member(after, "workers")) {
    const Json& then = named(member(before, "workers"), text(worker, "name"));
    rates.workers.push_back(worker_rate(then, worker, seconds));
    add_stages(then, worker, seconds, rates.workers.back(), rates.stages);
    add_drops(then, worker, seconds, rates.drops);
    if (const Json& sdus = member(worker, "baas"); sdus.contains("sent_again"))
      rates.buffering.push_back(buffering_rate(text(worker, "name"), member(then, "baas"), sdus, seconds));
  }
  for (const auto& port : member(after, "ports")) {
    rates.ports.push_back(port_rate(named(member(before, "ports"), text(port, "name")), port, seconds));
  }
  add_guard(member(before, "guard"), member(after, "guard"), seconds, rates);
  // Without a card it says on which cores workers run, and nothing of bearers.
  const bool has_cards = !member(after, "cards").empty();
  if (const Json& placement = member(after, "placement"); has_cards && placement.is_object() && !placement.empty())
    rates.placement = placement_rate(member(before, "placement"), placement, seconds);
  return rates;
}

std::vector<BearerRate> bearer_rates(const std::vector<Json>& before, const std::vector<Json>& after, double seconds) {
  std::map<std::uint64_t, const Json*> then;
  for (const auto& bearer : before) then[number(bearer, "id")] = &bearer;
  std::vector<BearerRate> rates;
  for (const auto& bearer : after) {
    const auto at = then.find(number(bearer, "id"));
    const Json& old = at == then.end() ? bearer : *at->second;  // one that is new has no rate yet
    const auto rate = [&](const char* direction, const char* key) {
      return static_cast<double>(grown(member(old, direction), member(bearer, direction), key)) / seconds;
    };
    rates.push_back({.id = number(bearer, "id"),
                     .dl_packets = rate("downlink", "transmitted"),
                     .ul_packets = rate("uplink", "transmitted"),
                     .dl_bits = 8 * rate("downlink", "bytes"),
                     .ul_bits = 8 * rate("uplink", "bytes"),
                     .dropped = rate("downlink", "dropped") + rate("uplink", "dropped"),
                     .dl_total = number(member(bearer, "downlink"), "transmitted"),
                     .ul_total = number(member(bearer, "uplink"), "transmitted"),
                     .drb = number(member(bearer, "session"), "drb"),
                     .flows = flows_of(member(bearer, "session")),
                     .card = text(bearer, "card")});
  }
  return rates;
}

}  // namespace splitplane::app

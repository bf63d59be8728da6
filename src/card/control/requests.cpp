// What the control socket asks of a card, carried out on its cores' own threads between two rounds.
#include <rte_cycles.h>

#include <algorithm>

#include "base/text.h"
#include "card/control/instance.h"
#include "engine/cpu_time.h"
#include "observe/stats_json.h"

namespace splitplane::app {
namespace {

using nlohmann::json;

template <std::size_t N, std::size_t M>
json counts_of(const std::array<std::uint64_t, N>& counts, const std::array<std::string_view, M>& names) {
  static_assert(N == M);
  json object = json::object();
  for (std::size_t i = 0; i < N; ++i) {
    if (counts[i] != 0) object[std::string(names[i])] = counts[i];
  }
  return object;
}

json totals_of(const CardSums& all) {
  return {{"received", all.received}, {"clones", all.clones},     {"transmitted", all.transmitted},
          {"dropped", all.dropped},   {"consumed", all.consumed}, {"held", all.held},
          {"balanced", all.balanced}};
}

json port_rows(const nic::CardCounters& counters, const std::vector<std::string>& names) {
  json rows = json::array();
  for (std::size_t i = 0; i < counters.ports.size(); ++i) {
    if (names[i].empty()) continue;  // not connected
    const auto& port = counters.ports[i];
    rows.push_back({{"name", names[i]},
                    {"port", i},
                    {"in", port.in},
                    {"out", port.out},
                    {"clones", port.clones},
                    {"tx_full", port.tx_full}});
  }
  return rows;
}

json counters_of(const nic::CardCounters& c, const std::vector<std::string>& names, const json& totals) {
  return {{"ports", port_rows(c, names)},
          {"punts", counts_of(c.punts, nic::kPuntReasonNames)},
          {"drops", counts_of(c.drops, nic::kCardDropNames)},
          {"tx_full", c.tx_full},
          {"rlc_control", c.rlc_control},
          {"clones", {{"made", c.clones}, {"sunk", c.clones_sunk}, {"failed", c.clones_failed}}},
          {"held", totals.at("held")},
          {"totals", totals}};
}

}  // namespace

Expected<CardPlane::Seen> CardPlane::look() {
  const std::lock_guard guard(mutex_);
  Seen seen;
  bool stopped = true;
  const auto done = cards_->on_each([&](unsigned core, nic::Card& card) -> Expected<void> {
    const CardLoop& loop = loops_[core];
    CoreCounts& counts = seen.cores.emplace_back();
    counts.card = card.counters();
    if (loop.together) counts.moved = loop.together->counters();
    WorkerObservation& worker = seen.workers.emplace_back();
    worker.name = loop.name;
    worker.core = loop.core;
    worker.counters = take_snapshot(loop.stats);
    worker.policy = loop.policy.kind;
    worker.cpu_cycles = loop.running ? datapath::thread_cpu_time() : loop.cpu_at_end;  // runs here once it has ended
    add(seen.card, counts.card);
    stopped = stopped && !loop.running;
    seen.bearers += card.bearer_count();
    seen.serves += card.served_count();
    return {};
  });
  if (!done) return tl::unexpected(done.error());
  seen.totals = sums_over(seen.cores, stopped);
  return seen;
}

std::vector<PortObservation> CardPlane::observe_ports(const nic::CardCounters& counters) {
  const std::lock_guard guard(mutex_);
  std::vector<PortObservation> rows;
  for (const auto& config : config_.ports) {
    PortObservation row{config.name, {}, 0, 0};
    if (const auto port = ports_.find(config.name); port != ports_.end()) row.driver = port->second->counters();
    if (const auto before = earlier_.find(config.name); before != earlier_.end()) add(row.driver, before->second);
    for (std::size_t i = 0; i < endpoints_.size(); ++i) {
      if (endpoint_ports_[i] != config.name) continue;
      const auto& c = counters.ports[i];
      row.workers_received += c.in;
      row.workers_transmitted += c.out + c.clones - c.tx_full;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Expected<Observation> CardPlane::observe() {
  auto seen = look();
  if (!seen) return tl::unexpected(seen.error());
  Observation all{.file_prefix = config_.file_prefix, .bearers = seen->bearers, .tsc_hz = rte_get_tsc_hz()};
  all.ports = observe_ports(seen->card);
  all.workers = std::move(seen->workers);
  all.cards.push_back({settings_.name, port_names_, std::move(seen->card)});
  all.log = log::unwritten();
  return all;
}

Expected<json> CardPlane::stats() {
  const auto seen = look();
  if (!seen) return tl::unexpected(seen.error());
  const bool several = seen->cores.size() > 1;
  json workers = json::array();
  for (std::size_t i = 0; i < seen->cores.size(); ++i) {
    const CoreCounts& core = seen->cores[i];
    json worker = to_json(seen->workers[i]);
    const CardSums sums = sums_of(core, several);
    worker.update({{"transmitted", sums.transmitted},
                   {"dropped", sums.dropped},
                   {"consumed", sums.consumed},
                   {"held", sums.held},
                   {"balanced", sums.balanced}});
    worker["drops"] = counts_of(core.card.drops, nic::kCardDropNames);
    if (core.card.tx_full != 0) worker["drops"]["tx_full"] = core.card.tx_full;
    workers.push_back(std::move(worker));
  }
  const json totals = totals_of(seen->totals);
  json ports = json::array();
  for (const auto& port : observe_ports(seen->card)) ports.push_back(to_json(port));
  json card = counters_of(seen->card, port_names_, totals);
  card["name"] = settings_.name;
  card["program"] = program_;
  return json{{"ports", std::move(ports)}, {"workers", std::move(workers)}, {"cards", json::array({std::move(card)})},
              {"bearers", seen->bearers},  {"tsc_hz", rte_get_tsc_hz()},    {"totals", totals}};
}

Expected<json> CardPlane::show_power() {
  const std::lock_guard guard(mutex_);
  json rows = json::array();
  for (unsigned core = 0; core < loops_.size(); ++core) {
    auto row = power_of(core).show();
    if (!row) return row;
    rows.push_back(*std::move(row));
  }
  return rows;
}

// The card's name is all of its loops.
Expected<json> CardPlane::set_power(const std::string& worker, const power::Settings& settings) {
  const std::lock_guard guard(mutex_);
  Expected<json> last =
      fail("worker: there is no '{}'; allowed: {}{}", printable(worker), settings_.name,
           loops_.size() == 1 ? "" : fmt::format(", {0}.0 to {0}.{1}", settings_.name, loops_.size() - 1));
  if (worker == settings_.name) {
    if (auto there = cards_->all_answer(); !there) return tl::unexpected(there.error());
  }
  for (unsigned core = 0; core < loops_.size(); ++core) {
    if (worker != settings_.name && worker != loops_[core].name) continue;
    last = power_of(core).set(settings);
    if (!last) break;
  }
  return last;
}

Expected<json> CardPlane::show_card() {
  const auto seen = look();
  if (!seen) return tl::unexpected(seen.error());
  json vfs = json::array();
  for (std::size_t i = nic::kFirstVf; i < port_names_.size() && !settings_.vfs.empty(); ++i)
    vfs.push_back(port_names_[i]);
  json card = counters_of(seen->card, port_names_, totals_of(seen->totals));
  const bool gnb = settings_.program == CardConfig::Program::kGnb;
  card.update({{"name", settings_.name},
               {"program", program_},
               {"source_hash", source_hash_},
               {"features", gnb ? json(datapath::name_of(settings_.features)) : json(nullptr)},
               {"lookup", settings_.lookup == CardConfig::Lookup::kTeid ? "teid" : "ue_address"},
               {"marks", settings_.marks ? json(*settings_.marks) : json(nullptr)},
               {"boot", boot_},
               {"cores", settings_.cores},
               {"vfs", vfs},
               {"waiting_vfs", vf_keeper_->waiting()},
               {"punt_n3", loops_[0].card->settings().punt_n3},
               {"punt_air", loops_[0].card->settings().punt_air},
               {"bearers", seen->bearers},
               {"serves", seen->serves},
               {"max_bearers", gnb ? settings_.max_bearers : 0}});
  return card;
}

Expected<void> CardPlane::install_on_card(std::span<const nic::CardBearer> bearers, bool restart) {
  const std::lock_guard guard(mutex_);
  return cards_->install(bearers, restart);
}

Expected<void> CardPlane::remove_from_card(std::span<const BearerId> ids) {
  const std::lock_guard guard(mutex_);
  return cards_->remove(ids);
}

Expected<void> CardPlane::set_card_peer(const nic::CardPeer& peer) {
  const std::lock_guard guard(mutex_);
  return cards_->set_peer(peer);
}

Expected<void> CardPlane::unset_card_peer(unsigned number) {
  const std::lock_guard guard(mutex_);
  return cards_->unset_peer(number);
}

Expected<void> CardPlane::set_leases(std::span<const nic::CardLease> leases) {
  const std::lock_guard guard(mutex_);
  return cards_->set_leases(leases);
}

Expected<std::vector<nic::BearerNumbers>> CardPlane::card_numbers(std::span<const BearerId> ids) {
  const std::lock_guard guard(mutex_);
  return cards_->numbers(ids);
}

Expected<std::vector<nic::BearerNumbers>> CardPlane::card_numbers_after(std::uint32_t after, std::size_t limit) {
  const std::lock_guard guard(mutex_);
  return cards_->numbers_after(after, limit);
}

}  // namespace splitplane::app

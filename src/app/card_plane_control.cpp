// What the control socket asks of a card, carried out on the card's own thread between two rounds.
#include <rte_cycles.h>

#include <algorithm>

#include "app/card_plane.h"
#include "app/cli_suggest.h"
#include "app/stats_json.h"

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

struct Sums {
  std::uint64_t in = 0, out = 0, clones = 0;
};

Sums sums_of(const nic::CardCounters& counters) {
  Sums sums;
  for (const auto& port : counters.ports) {
    sums.in += port.in;
    sums.out += port.out;
    sums.clones += port.clones;
  }
  return sums;
}

// received + clones = transmitted + dropped + consumed (clones given up at once) + held.
json totals_of(const nic::CardCounters& c) {
  const Sums sums = sums_of(c);
  return {{"received", sums.in},
          {"clones", sums.clones + c.clones_sunk},
          {"transmitted", sums.out + sums.clones - c.tx_full},
          {"dropped", c.dropped + c.tx_full},
          {"consumed", c.clones_sunk},
          {"held", c.held},
          {"balanced", c.reasons_add_up && c.held == 0 && sums.in == sums.out + c.dropped}};
}

json port_rows(const nic::CardCounters& counters, const std::vector<std::string>& names) {
  json rows = json::array();
  for (std::size_t i = 0; i < counters.ports.size(); ++i) {
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

json counters_of(const nic::CardCounters& c, const std::vector<std::string>& names) {
  return {{"ports", port_rows(c, names)},
          {"punts", counts_of(c.punts, nic::kPuntReasonNames)},
          {"drops", counts_of(c.drops, nic::kCardDropNames)},
          {"tx_full", c.tx_full},
          {"rlc_control", c.rlc_control},
          {"clones", {{"made", c.clones}, {"sunk", c.clones_sunk}, {"failed", c.clones_failed}}},
          {"held", c.held},
          {"totals", totals_of(c)}};
}

}  // namespace

template <class Use>
auto CardPlane::on_card(Use&& use) {
  const std::lock_guard guard(mutex_);
  decltype(use(*card_)) result = fail("card {} does not answer", settings_.name);
  (void)execute([&] { result = use(*card_); });  // taken back if it does not answer: never executed later
  return result;
}

Expected<CardPlane::Seen> CardPlane::look() {
  return on_card([this](const nic::Card& card) -> Expected<Seen> {
    Seen seen;
    seen.card = card.counters();
    seen.bearers = card.bearer_count();
    seen.worker.name = settings_.name;
    seen.worker.core = settings_.core;
    seen.worker.counters = take_snapshot(stats_);
    seen.worker.policy = settings_.policy.kind;
    return seen;
  });
}

std::vector<PortObservation> CardPlane::observe_ports(const nic::CardCounters& counters) const {
  std::vector<PortObservation> rows;
  for (const auto& config : config_.ports) {
    const datapath::Port& port = *ports_.at(config.name);
    PortObservation row{config.name, port.counters(), 0, 0};
    for (std::size_t i = 0; i < endpoints_.size(); ++i) {
      if (endpoints_[i].in != nullptr || endpoints_[i].port != port.id()) continue;
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
  all.workers.push_back(std::move(seen->worker));
  all.cards.push_back({settings_.name, port_names_, std::move(seen->card)});
  return all;
}

Expected<json> CardPlane::stats() {
  const auto seen = look();
  if (!seen) return tl::unexpected(seen.error());
  const json totals = totals_of(seen->card);
  json worker = to_json(seen->worker);
  for (const char* key : {"transmitted", "dropped", "consumed", "held", "balanced"}) worker[key] = totals.at(key);
  worker["drops"] = counts_of(seen->card.drops, nic::kCardDropNames);
  if (seen->card.tx_full != 0) worker["drops"]["tx_full"] = seen->card.tx_full;
  json ports = json::array();
  for (const auto& port : observe_ports(seen->card)) ports.push_back(to_json(port));
  json card = counters_of(seen->card, port_names_);
  card["name"] = settings_.name;
  card["program"] = program_;
  return json{{"ports", std::move(ports)},
              {"workers", json::array({std::move(worker)})},
              {"cards", json::array({std::move(card)})},
              {"bearers", seen->bearers},
              {"tsc_hz", rte_get_tsc_hz()},
              {"totals", totals}};
}

Expected<json> CardPlane::show_power() {
  const std::lock_guard guard(mutex_);
  return power_of().show().map([](json row) { return json::array({std::move(row)}); });
}

Expected<json> CardPlane::set_power(const std::string& worker, const power::Settings& settings) {
  if (worker != settings_.name) return fail("worker: there is no '{}'; allowed: {}", printable(worker), settings_.name);
  const std::lock_guard guard(mutex_);
  return power_of().set(settings);
}

Expected<json> CardPlane::show_card() {
  const auto seen = look();
  if (!seen) return tl::unexpected(seen.error());
  json vfs = json::array();
  for (std::size_t i = nic::kFirstVf; i < port_names_.size() && !settings_.vfs.empty(); ++i)
    vfs.push_back(port_names_[i]);
  json card = counters_of(seen->card, port_names_);
  const bool gnb = settings_.program == CardConfig::Program::kGnb;
  card.update({{"name", settings_.name},
               {"program", program_},
               {"source_hash", source_hash_},
               {"features", gnb ? json(datapath::name_of(settings_.features)) : json(nullptr)},
               {"lookup", settings_.lookup == CardConfig::Lookup::kTeid ? "teid" : "ue_address"},
               {"marks", settings_.marks ? json(*settings_.marks) : json(nullptr)},
               {"boot", boot_},
               {"core", settings_.core},
               {"vfs", vfs},
               {"punt_n3", card_->settings().punt_n3},
               {"punt_air", card_->settings().punt_air},
               {"bearers", seen->bearers},
               {"max_bearers", gnb ? settings_.max_bearers : 0}});
  return card;
}

Expected<void> CardPlane::install_on_card(std::span<const nic::CardBearer> bearers, bool restart) {
  return on_card([&](nic::Card& card) { return card.install(bearers, restart); });
}

Expected<void> CardPlane::remove_from_card(std::span<const BearerId> ids) {
  return on_card([&](nic::Card& card) { return card.remove(ids); });
}

Expected<void> CardPlane::set_card_peer(const nic::CardPeer& peer) {
  return on_card([&](nic::Card& card) { return card.set_peer(peer); });
}

Expected<void> CardPlane::unset_card_peer(unsigned number) {
  return on_card([&](nic::Card& card) -> Expected<void> {
    card.unset_peer(number);
    return {};
  });
}

Expected<void> CardPlane::set_leases(std::span<const Lease> leases) {
  return on_card([&](nic::Card& card) -> Expected<void> {
    for (const auto& [id, end] : leases) {
      if (card.find(id) == nullptr) return fail("no bearer with identity {:#010x} on the card", id.value);
    }
    for (const auto& [id, end] : leases) {
      if (auto set = card.set_lease(id, end); !set) return set;
    }
    return {};
  });
}

Expected<std::vector<ControlBackend::NumbersRow>> CardPlane::card_numbers(std::span<const BearerId> ids) {
  return on_card([&](nic::Card& card) -> Expected<std::vector<NumbersRow>> {
    std::vector<NumbersRow> rows;
    for (const BearerId id : ids) {
      const auto numbers = card.numbers(id);
      if (!numbers) return tl::unexpected(numbers.error());
      rows.emplace_back(id, *numbers);
    }
    return rows;
  });
}

Expected<std::vector<ControlBackend::NumbersRow>> CardPlane::card_numbers_after(std::uint32_t after,
                                                                                std::size_t limit) {
  std::vector<BearerId> ids;
  {
    auto all = on_card([](nic::Card& card) -> Expected<std::vector<BearerId>> { return card.bearers(); });
    if (!all) return tl::unexpected(all.error());
    const auto first = std::upper_bound(all->begin(), all->end(), BearerId{after});
    ids.assign(first, first + std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(limit), all->end() - first));
  }
  return card_numbers(ids);
}

}  // namespace splitplane::app

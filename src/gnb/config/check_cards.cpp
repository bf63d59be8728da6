#include "gnb/config/check_cards.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "card/protocol/servable.h"
#include "gnb/config/lookup.h"

namespace splitplane::app {
namespace {

using Function = WorkerConfig::Function;

template <class Entry>
bool in_section(const std::vector<Entry>& section, const std::string& port) {
  return std::ranges::any_of(section, [&](const Entry& e) { return e.port == port; });
}

std::optional<Finding> check_sides(const GnbConfig& config, const CardLinkConfig& card) {
  const auto key = [&](const char* side) { return fmt::format("cards.{}.{}", card.name, side); };
  for (const auto& [side, port] : {std::pair{"n3", card.n3}, {"air", card.air}, {"copies", card.copies}}) {
    if (port.empty() || std::ranges::count(card.vfs, port) != 0) continue;
    return Finding{key(side),
                   fmt::format("'{}' is no VF of the card; allowed: {}", printable(port), fmt::join(card.vfs, ", "))};
  }
  if (!in_section(config.n3, card.n3))
    return Finding{key("n3"), fmt::format("port {} is not in the section n3; allowed: one that is", card.n3)};
  if (!in_section(config.air, card.air))
    return Finding{key("air"), fmt::format("port {} is not in the section air; allowed: one that is", card.air)};
  if (card.copies == card.n3 || card.copies == card.air)
    return Finding{key("copies"), fmt::format("port {} has packets of its own; allowed: another VF", card.copies)};
  const unsigned n3 = find_port(config, card.n3)->rx_queues, air = find_port(config, card.air)->rx_queues;
  if (n3 != air) {
    return Finding{key("air"), fmt::format("port {} has {} queues, and port {} has {}; allowed: as many, a pair for "
                                           "each worker",
                                           card.air, air, card.n3, n3)};
  }
  for (const auto& worker : config.workers) {
    const bool one = worker.n3 == card.n3, other = worker.air == card.air;
    if (one == other) continue;
    return Finding{fmt::format("workers.{}.{}", worker.name, one ? "air" : "n3"),
                   fmt::format("is no port behind card {}, and its other one is; allowed: {}", card.name,
                               one ? card.air : card.n3)};
  }
  return std::nullopt;
}

std::optional<Finding> check_bearer(const GnbConfig& config, const ran::BearerConfig& bearer,
                                    const std::optional<unsigned>& shard, const std::string& key) {
  const CardLinkConfig* card = find_card(config, bearer.card);
  if (card == nullptr) {
    std::vector<std::string_view> names;
    for (const auto& c : config.cards) names.emplace_back(c.name);
    return Finding{key, fmt::format("there is no card '{}'; allowed: {}", printable(bearer.card),
                                    names.empty() ? "none, there is no section cards" : comma_list(names))};
  }
  if (const auto refused = refuse_on_card(bearer)) return Finding{key, *refused};
  if (config.lookup == GnbConfig::Lookup::kUeAddress && !bearer.ue_ipv4 && !bearer.ue_ipv6)
    return Finding{key, "has no UE address, which lookup ue_address needs; allowed: ue_ipv4, ue_ipv6 or both"};
  for (const auto& worker : config.workers) {
    const bool owns =
        worker.function == Function::kGnb && (!shard || (*shard >= worker.shard_first && *shard <= worker.shard_last));
    if (!owns) continue;
    if (worker.n3 != card->n3) {
      return Finding{key, fmt::format("worker {} would own some of them, and is not behind card {}; allowed: shards of "
                                      "workers with n3 {}",
                                      worker.name, card->name, card->n3)};
    }
    if (worker.features < datapath::FeatureSet::mat) {
      return Finding{fmt::format("workers.{}.features", worker.name),
                     fmt::format("looks for no bearers, and would not know those of card {}; allowed: mat, clone_drop, "
                                 "clone",
                                 card->name)};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Finding> check_cards(const GnbConfig& config) {
  std::set<std::string> taken, controls;
  for (const auto& card : config.cards) {
    if (!controls.insert(card.control).second) {
      return Finding{fmt::format("cards.{}.control", card.name),
                     fmt::format("{} is another card's; allowed: a socket of its own", printable(card.control, 120))};
    }
    if (auto finding = check_vf_ports(config, fmt::format("cards.{}.vfs", card.name), card.vfs, taken)) return finding;
    if (auto finding = check_sides(config, card)) return finding;
  }
  for (std::size_t i = 0; i < config.bearers.size(); ++i) {
    const auto& group = config.bearers[i];
    if (group.first.card.empty()) continue;
    if (auto finding = check_bearer(config, group.first, group.shard, fmt::format("bearers[{}].card", i)))
      return finding;
  }
  for (std::size_t i = 0; i < config.sessions.size(); ++i) {
    const ran::WantedSession& session = config.sessions[i];
    for (std::size_t j = 0; j < session.config.bearers.size(); ++j) {
      const ran::SessionBearer& bearer = session.config.bearers[j];
      if (bearer.config.card.empty()) continue;
      const std::string key = fmt::format("sessions[{}].bearers[{}].card", i, j);
      if (auto finding = check_bearer(config, bearer.config, session.shard, key)) return finding;
      if (config.lookup == GnbConfig::Lookup::kUeAddress)
        return Finding{key, "is in a session with several bearers, and lookup is ue_address; allowed: lookup teid"};
    }
  }
  return std::nullopt;
}

}  // namespace splitplane::app

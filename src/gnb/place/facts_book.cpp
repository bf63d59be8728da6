#include "gnb/place/facts_book.h"

#include <algorithm>

namespace splitplane::gnb {
namespace {

using placement::BearerFacts;
using placement::HostOnly;
using placement::Pin;
using placement::Place;

constexpr std::size_t kWindowsPerPeriod = 8192, kWindowsPerCommand = 512;
constexpr std::uint64_t kUsualEntries = 65536;  // of a card that does not say how many it has

// Written by the worker alone; any value that it had will do.
std::uint64_t relaxed(const std::uint64_t& counter) {
  return __atomic_load_n(&counter, __ATOMIC_RELAXED);
}

}  // namespace

std::optional<std::uint8_t> FactsBook::card_number(const std::string& name) const {
  const auto& cards = parts_.config.cards;
  const auto at = std::ranges::find(cards, name, &CardLinkConfig::name);
  return at == cards.end() ? std::nullopt : std::optional(static_cast<std::uint8_t>(at - cards.begin()));
}

std::optional<std::size_t> FactsBook::slot_of(BearerId id) const {
  const auto at = slots_.find(id.value);
  return at == slots_.end() ? std::nullopt : std::optional<std::size_t>(at->second);
}

bool FactsBook::pin(BearerId id, const std::string& to) {
  if (to != "host" && !card_number(to)) return false;
  pins_[id.value] = to;
  return true;
}

void FactsBook::moved(std::size_t slot, Place place, placement::Time now) {
  BearerFacts& bearer = facts_.bearers[slot];
  bearer.place = bearer.to = place;
  bearer.moved = now;
}

HostOnly FactsBook::host_only(const Locked& locked, const ran::BearerConfig& config) const {
  const WorkerRuntime& worker = *parts_.workers.owner_of(config.id.value);
  const auto& cards = parts_.config.cards;
  const auto card = std::ranges::find(cards, worker.config.n3, &CardLinkConfig::n3);
  if (card == cards.end()) return HostOnly::no_card;
  return moves_.host_only(locked, config, card->name);
}

void FactsBook::look_at_cards(const Locked& /*locked*/) {
  const auto& cards = parts_.config.cards;
  facts_.cards.resize(cards.size());
  const auto views = parts_.cards.views();
  for (std::size_t i = 0; i < cards.size() && i < views.size(); ++i) {
    const std::uint64_t entries = views[i].capacity == 0 ? kUsualEntries : views[i].capacity;
    // The host's bearers behind it have entries, too, while there is room: they lead to their workers.
    facts_.cards[i] = {.up = views[i].up, .capacity = entries};
  }
  const auto& workers = parts_.workers.all();
  facts_.workers.assign(workers.size(), {});
  for (std::size_t w = 0; w < workers.size(); ++w) {
    for (std::size_t c = 0; c < cards.size(); ++c) {
      if (workers[w]->gnb && workers[w]->config.n3 == cards[c].n3) facts_.workers[w].cards |= 1U << c;
    }
    if (!workers[w]->gnb) continue;
    for (unsigned shard = workers[w]->config.shard_first; shard <= workers[w]->config.shard_last; ++shard)
      facts_.shards[shard].worker = static_cast<std::uint8_t>(w);
  }
}

void FactsBook::look_at(const Locked& locked, const ran::BearerConfig& config) {
  const std::uint32_t id = config.id.value;
  WorkerRuntime* const worker = parts_.workers.owner_of(id);
  if (worker == nullptr) return;
  const auto [at, is_new] = slots_.try_emplace(id, 0);
  if (is_new) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(facts_.bearers.size()));
      facts_.bearers.emplace_back();
      seen_.push_back(0);
    }
    at->second = free_.back();
    free_.pop_back();
    facts_.bearers[at->second] = {.id = config.id, .shard = ran::shard_of(id)};
  }
  BearerFacts& bearer = facts_.bearers[at->second];
  seen_[at->second] = updates_;
  const HostOnly why = host_only(locked, config);
  bearer.host_only = why;
  // Others of these reasons forbid a card; these forbid a move only.
  bearer.fixed = why == HostOnly::of_session || why == HostOnly::dispatched || why == HostOnly::by_ue_address ||
                 why == HostOnly::copies;
  const auto card = config.card.empty() ? std::nullopt : card_number(config.card);
  bearer.place = card ? Place::card(*card) : facts_.host_of(bearer);
  bearer.to = bearer.place;
  bearer.pin = Pin::kNone;
  if (const auto pin = pins_.find(id); pin != pins_.end()) {
    const auto on = card_number(pin->second);
    bearer.pin = on ? Pin::kCard : Pin::kHost;
    bearer.pin_card = on.value_or(0);
  }
  const auto served = served_.find(id);
  if (served != served_.end()) {
    bearer.packets = served->second.dl_packets + served->second.ul_packets;
    bearer.octets = served->second.dl_octets + served->second.ul_octets;
  } else {
    const ran::BearerDownlink& line = *worker->gnb->bearers.bearer_line(id);
    // Without what was dropped, as a card counts.
    bearer.packets = relaxed(line.received) - relaxed(worker->gnb->bearers.drops(id).downlink);
    bearer.octets = relaxed(line.bytes);
  }
  const ran::BearerUplink& up = *worker->gnb->bearers.uplink_line(id);
  bearer.packets += relaxed(up.received);
  bearer.octets += relaxed(up.bytes);
}

// Half of a window unacknowledged on a card is a UE that does not answer; the host looks after such a bearer.
void FactsBook::look_at_windows() {
  std::vector<std::pair<std::size_t, std::uint32_t>> some;  // slot, identity
  const std::size_t all = facts_.bearers.size();
  for (std::size_t n = 0; n < std::min(all, kWindowsPerPeriod); ++n) {
    const std::size_t slot = next_window_++ % all;
    if (facts_.bearers[slot].lives()) some.emplace_back(slot, facts_.bearers[slot].id.value);
  }
  for (const auto& worker : parts_.workers.all()) {
    if (!worker->gnb || !worker->gnb->arq) continue;
    for (std::size_t done = 0; done < some.size(); done += kWindowsPerCommand) {
      const auto part = std::span(some).subspan(done, std::min(kWindowsPerCommand, some.size() - done));
      const bool listened = worker->execute(
          [&] {
            for (const auto& [slot, id] : part) {
              const datapath::ArqBearer* const arq =
                  worker->gnb->bearers.owns(id) ? worker->gnb->arq_bearers.find(id) : nullptr;
              if (arq == nullptr) continue;
              const std::uint64_t unacked = arq->next() - arq->next_ack();
              facts_.bearers[slot].unacked_percent = static_cast<std::uint8_t>(
                  std::min<std::uint64_t>(100, 100 * unacked / std::max(1U, arq->max_unacked)));
            }
          },
          std::chrono::milliseconds(20));
      if (!listened) break;
    }
  }
}

void FactsBook::update(const Locked& locked, placement::Time now, bool with_windows) {
  facts_.now = now;
  ++updates_;
  look_at_cards(locked);
  served_.clear();
  for (const CardLinkConfig& card : parts_.config.cards) {
    for (const auto& worker : parts_.workers.all()) {
      CardLink* const link = parts_.cards.link_before(*worker, card.name);
      if (link == nullptr) continue;
      link->for_each_served([&](std::uint32_t id, const LinkBearers::Served& served) { served_[id] = served; });
      break;
    }
  }
  parts_.store.for_each([&](const ran::BearerConfig& config) { look_at(locked, config); });
  for (std::size_t slot = 0; slot < facts_.bearers.size(); ++slot) {
    BearerFacts& bearer = facts_.bearers[slot];
    if (!bearer.lives() || seen_[slot] == updates_) continue;
    slots_.erase(bearer.id.value);
    pins_.erase(bearer.id.value);
    bearer = {};
    free_.push_back(static_cast<std::uint32_t>(slot));
  }
  if (with_windows && !facts_.bearers.empty()) look_at_windows();
}

}  // namespace splitplane::gnb

#include "gnb/place/facts_book.h"

#include <algorithm>
#include <thread>

#include "gnb/config/host_only.h"

namespace splitplane::gnb {
namespace {

using placement::BearerFacts;
using placement::Pin;
using placement::Place;

constexpr std::size_t kWindowsPerPeriod = 8192, kWindowsPerCommand = 512;
constexpr std::uint64_t kUsualEntries = 65536;  // of a card that does not say how many it has

// A bearer that a card refuses waits for ever, and shall not keep others from moving.
constexpr placement::Time kLongestFilling{10'000};

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

void FactsBook::moved(std::size_t slot, Place place, placement::Time now) {
  BearerFacts& bearer = facts_.bearers[slot];
  bearer.place = bearer.to = place;
  bearer.moved = now;
}

bool FactsBook::is_filled(std::size_t card, const app::CardLinkView& view) {
  filling_.resize(parts_.config.cards.size());
  Filling& filling = filling_[card];
  if (view.up && filling.run != view.connects) filling = {.run = view.connects, .since = facts_.now};
  filling.is_over = view.up && (filling.is_over || view.waiting == 0 || facts_.now - filling.since >= kLongestFilling);
  return filling.is_over;
}

void FactsBook::look_at_cards() {
  const auto& cards = parts_.config.cards;
  facts_.cards.resize(cards.size());
  const auto views = parts_.cards.views();
  for (std::size_t i = 0; i < cards.size() && i < views.size(); ++i) {
    const std::uint64_t entries = views[i].capacity == 0 ? kUsualEntries : views[i].capacity;
    // The host's bearers behind it have entries, too, while there is room: they lead to their workers. Some must.
    facts_.cards[i] = {.up = is_filled(i, views[i]),
                       .capacity = entries - std::min<std::uint64_t>(entries, views[i].fixed)};
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

void FactsBook::look_at(const Locked& /*locked*/, const ran::BearerConfig& config) {
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
  bearer.host_only =
      app::host_only(parts_.config, worker->config, config, parts_.store.session_of(config.id) != nullptr);
  bearer.fixed = app::forbids_moves_only(bearer.host_only);
  const auto card = config.card.empty() ? std::nullopt : card_number(config.card);
  bearer.place = card ? Place::card(*card) : facts_.host_of(bearer);
  bearer.to = bearer.place;
  bearer.pin = Pin::kNone;
  if (const placement::Pins::Pin* const pin = parts_.pins.of(config.id); pin != nullptr) {
    const auto on = card_number(pin->to);
    bearer.pin = on ? Pin::kCard : Pin::kHost;
    bearer.pin_card = on.value_or(0);
  }
  if (const LinkBearers::Served* const served = served_by_card(id); served != nullptr) {
    bearer.packets = served->dl_packets + served->ul_packets;
    bearer.octets = served->dl_octets + served->ul_octets;
  } else {
    // It came to its card after that was asked: its totals are those of the look before.
    if (!config.card.empty() && !is_new) return;
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

// A card's link has a mutex of its own, and is asked in pieces, too.
void FactsBook::ask_cards_what_they_served() {
  served_.clear();
  next_served_ = 0;
  const auto keep = [&](std::uint32_t id, const LinkBearers::Served& served) { served_.emplace_back(id, served); };
  for (const CardLinkConfig& card : parts_.config.cards) {
    for (const auto& worker : parts_.workers.all()) {
      const CardLink* const link = parts_.cards.link_before(*worker, card.name);
      if (link == nullptr) continue;
      std::uint32_t before = 0, last = link->visit_served(0, kPiece, keep);
      while (last != before) {
        before = last;
        std::this_thread::sleep_for(kPause);
        last = link->visit_served(last, kPiece, keep);
      }
      break;
    }
  }
  if (parts_.config.cards.size() > 1) std::ranges::sort(served_, {}, [](const auto& one) { return one.first; });
}

const LinkBearers::Served* FactsBook::served_by_card(std::uint32_t id) {
  const auto id_of = [](const auto& one) { return one.first; };
  while (next_served_ < served_.size() && served_[next_served_].first < id) ++next_served_;
  if (next_served_ < served_.size() && served_[next_served_].first == id) return &served_[next_served_].second;
  // Out of the order: one bearer alone, or none of a card.
  const auto at = std::ranges::lower_bound(served_, id, {}, id_of);
  return at != served_.end() && at->first == id ? &at->second : nullptr;
}

void FactsBook::begin(placement::Time now) {
  facts_.now = now;
  ++updates_;
  last_seen_ = 0;
  look_at_cards();
  ask_cards_what_they_served();
}

bool FactsBook::look_further(const Locked& locked) {
  std::size_t looked = 0;
  last_seen_ = parts_.store.visit_after(last_seen_, kPiece, [&](const ran::BearerConfig& config) {
    look_at(locked, config);
    ++looked;
  });
  return looked == kPiece;
}

void FactsBook::end(bool with_windows) {
  for (std::size_t slot = 0; slot < facts_.bearers.size(); ++slot) {
    BearerFacts& bearer = facts_.bearers[slot];
    if (!bearer.lives() || seen_[slot] == updates_) continue;
    slots_.erase(bearer.id.value);
    bearer = {};
    free_.push_back(static_cast<std::uint32_t>(slot));
  }
  if (with_windows && !facts_.bearers.empty()) look_at_windows();
}

void FactsBook::begin_look_at_some(placement::Time now) {
  facts_.now = now;
  look_at_cards();
}

bool FactsBook::look_at(const Locked& locked, BearerId id) {
  const ran::BearerConfig* const found = parts_.store.find(id);
  if (found != nullptr) look_at(locked, *found);
  return found != nullptr;
}

}  // namespace splitplane::gnb

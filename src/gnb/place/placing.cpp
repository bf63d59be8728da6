#include "gnb/place/placing.h"

#include <algorithm>

#include "base/log.h"
#include "base/text.h"

namespace splitplane::gnb {
namespace {

constexpr int kIdlePeriods = 4;

placement::Time now() {
  return std::chrono::duration_cast<placement::Time>(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace

void Placing::note_mode() {
  const std::lock_guard guard(view_mutex_);
  view_.mode = placement::kModeNames[static_cast<std::size_t>(settings_.mode)];
}

Placing::Placing(Parts& parts, const placement::Settings& settings)
    : parts_(parts),
      moves_(parts),
      consolidating_(parts, settings.consolidation),
      settings_(settings),
      decider_(settings),
      book_(parts) {
  note_mode();
  if (!parts.config.cards.empty() || parts.workers.all().size() > 1)
    parts.observer.show_placement([this](const Locked& locked) { return view(locked); });
}

void Placing::start() {
  consolidating_.start();
  if (!parts_.config.cards.empty()) thread_ = std::thread([this] { run(); });
}

void Placing::stop() {
  consolidating_.stop();
  {
    const std::lock_guard guard(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool Placing::has_work() const {
  return settings_.mode != placement::Mode::kStatic || parts_.pins.count() != 0;
}

void Placing::run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    // Without work it only counts, and not as often.
    const auto period = std::chrono::milliseconds(settings_.period_ms) * (has_work() ? 1 : kIdlePeriods);
    changed_.wait_for(lock, period, [this] { return stop_ || soon_; });
    soon_ = false;
    if (stop_) continue;
    lock.unlock();
    one_period();
    lock.lock();
  }
}

void Placing::look_at_all(placement::Time at) {
  book_.begin(at);
  for (bool more = true; more;) {
    {
      const Locked locked = parts_.control.lock();
      more = book_.look_further(locked);
    }
    if (more) std::this_thread::sleep_for(FactsBook::kPause);
  }
  book_.end(settings_.mode == placement::Mode::kSpill);
}

void Placing::one_period() {
  moves_.catch_up();
  std::vector<placement::Move> moves;
  const placement::Time at = now();
  {
    const std::lock_guard guard(mutex_);
    look_at_all(at);
    const placement::Decision& decision = decider_.decide(book_.facts());
    if (has_work()) moves = decision.moves;
    const std::lock_guard view_guard(view_mutex_);
    view_.bearers = decision.bearers;
    view_.movable = decision.movable;
    view_.on_cards = decision.on_cards;
    view_.load = decision.load;
    view_.load_on_cards = decision.load_on_cards;
    ++view_.decisions;
  }
  carry_out(moves, at);
}

// Those with one goal together, in the order in which they were decided.
void Placing::carry_out(const std::vector<placement::Move>& moves, placement::Time at) {
  for (std::size_t begin = 0; begin < moves.size();) {
    std::size_t end = begin;
    std::vector<BearerId> ids;
    const placement::Place to = moves[begin].to;
    for (; end < moves.size() && moves[end].to == to && ids.size() < kMostMoving; ++end)
      ids.push_back(moves[end].bearer);
    std::string card;
    {
      const std::lock_guard guard(mutex_);
      if (stop_) return;
      if (to.on_card()) card = book_.card_name(to.number());
    }
    const auto results = moves_.move(ids, card);
    const std::lock_guard guard(mutex_);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const placement::Move& move = moves[begin + i];
      const bool is_there = results[i].what == MoveResult::What::kMoved || results[i].what == MoveResult::What::kThere;
      book_.moved(move.slot, is_there ? move.to : move.from, at);
      if (results[i].what == MoveResult::What::kFailed)
        log::warn("bearer {:#010x} did not move to {}: {}", move.bearer.value, card.empty() ? "the host" : card,
                  results[i].why);
    }
    begin = end;
  }
}

Expected<std::vector<MoveResult>> Placing::move(std::span<const BearerId> ids, const std::string& to) {
  bool pins = false;
  {
    const std::lock_guard guard(mutex_);
    if (to != "host" && !book_.card_number(to))
      return fail("to: this host has no card '{}'; allowed: host, or a card", printable(to));
    pins = settings_.mode != placement::Mode::kStatic;
  }
  auto results = moves_.move(ids, to == "host" ? "" : to);
  if (!pins) return results;
  const Locked locked = parts_.control.lock();
  for (const MoveResult& one : results) {
    const bool is_there = one.what == MoveResult::What::kMoved || one.what == MoveResult::What::kThere;
    if (is_there && parts_.store.find(one.id) != nullptr) pin(locked, one.id, to);
  }
  return results;
}

void Placing::pin(const Locked& locked, BearerId id, const std::string& to) {
  parts_.pins.pin(id, to);
  parts_.numbers.set_pin(locked, id, parts_.pins.said(id));
}

Expected<void> Placing::pin(std::span<const BearerId> ids, const std::string& to) {
  {
    const std::lock_guard guard(mutex_);
    if (to != "host" && !book_.card_number(to))
      return fail("to: this host has no card '{}'; allowed: host, or a card", printable(to));
    const Locked locked = parts_.control.lock();
    for (const BearerId id : ids) {
      if (parts_.store.find(id) == nullptr) return fail("ids: there is no bearer {:#010x}", id.value);
    }
    for (const BearerId id : ids) pin(locked, id, to);
    soon_ = true;
  }
  changed_.notify_all();
  return parts_.numbers.wait_for_disk();
}

Expected<std::size_t> Placing::unpin(std::span<const BearerId> ids) {
  std::size_t unpinned = 0;
  {
    const Locked locked = parts_.control.lock();
    for (const BearerId id : ids) {
      const ran::BearerConfig* const found = parts_.store.find(id);
      if (found == nullptr || !parts_.pins.unpin(id, {found->upf, found->uplink_teid})) continue;
      parts_.numbers.set_pin(locked, id, parts_.pins.said(id));
      ++unpinned;
    }
  }
  return parts_.numbers.wait_for_disk().map([unpinned] { return unpinned; });
}

Expected<void> Placing::set(const placement::Settings& next) {
  const std::lock_guard guard(mutex_);
  if (parts_.config.cards.empty() && next.mode != placement::Mode::kStatic)
    return fail("mode: this host has no card; allowed: static");
  const auto serving = std::ranges::count(parts_.config.workers, WorkerConfig::Function::kGnb, &WorkerConfig::function);
  if (next.consolidation.on && serving < 2)
    return fail("consolidate: {} worker has function gnb; allowed: with two or more", serving);
  if (const auto wrong = placement::refuse(next.consolidation)) return fail("{}", *wrong);
  settings_ = next;
  consolidating_.set(next.consolidation);
  decider_.set(next);
  note_mode();
  soon_ = true;
  changed_.notify_all();
  return {};
}

placement::Settings Placing::settings() const {
  const std::lock_guard guard(mutex_);
  return settings_;
}

placement::View Placing::view() const {
  return view(parts_.control.lock());
}

placement::View Placing::view(const Locked& /*locked*/) const {
  placement::View view;
  {
    const std::lock_guard guard(view_mutex_);
    view = view_;
  }
  if (parts_.config.cards.empty()) view.bearers = parts_.store.size();  // there are no periods
  view.pinned = parts_.pins.count();
  const Moves::Counters counters = moves_.counters();
  view.to_card = counters.to_card;
  view.to_host = counters.to_host;
  view.failed = counters.failed;
  view.refused = counters.refused;
  view.with_packets = counters.with_packets;
  view.packets = counters.packets;
  view.longest_hold_us = counters.longest_us;
  const Consolidating::Counters cores = consolidating_.counters();
  view.parked = cores.parked;
  view.woken = cores.woken;
  view.not_parked = cores.not_parked;
  return view;
}

std::vector<Placing::Why> Placing::explain(std::span<const BearerId> ids) {
  std::vector<Why> all;
  if (ids.empty()) return all;
  const std::lock_guard guard(mutex_);
  book_.begin_look_at_some(now());
  for (const BearerId id : ids) {
    const Locked locked = parts_.control.lock();
    const bool lives = book_.look_at(locked, id);
    const auto slot = book_.slot_of(id);
    if (!lives || !slot) {
      all.push_back({.id = id, .place = "", .reason = "there is no such bearer"});
      continue;
    }
    const placement::Place place = book_.facts().bearers[*slot].place;
    const placement::Pins::Pin* const pin = parts_.pins.of(id);
    const placement::Explanation why = decider_.explain(book_.facts(), *slot);
    all.push_back(
        {.id = id,
         .place = place.on_card() ? book_.card_name(place.number()) : "host",
         .reason = placement::to_string(why, place.on_card() ? book_.card_name(place.number())
                                                             : parts_.workers.all()[place.number()]->config.name),
         .load = why.load,
         .pinned_by = pin == nullptr ? ""
                      : pin->by_file ? "file"
                                     : "ctl"});
  }
  return all;
}

}  // namespace splitplane::gnb

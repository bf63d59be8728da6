#include "gnb/place/moves.h"

#include <algorithm>
#include <thread>

#include "base/log.h"
#include "gnb/config/host_only.h"
#include "gnb/place/move_to_card.h"
#include "gnb/place/move_to_host.h"

namespace splitplane::gnb {
namespace {

constexpr int kTries = 3;  // while the link still tells the card of a change
constexpr std::chrono::milliseconds kPause{5};

}  // namespace

placement::HostOnly Moves::host_only(const Locked& /*locked*/, const ran::BearerConfig& config,
                                     const std::string& card) const {
  const WorkerRuntime& worker = *parts_.workers.owner_of(config.id.value);
  if (parts_.cards.link_before(worker, card) == nullptr) return placement::HostOnly::no_card;
  return app::host_only(parts_.config, worker.config, config, parts_.store.session_of(config.id) != nullptr);
}

// What to do with a bearer: nothing but this result, or to move it.
std::optional<MoveResult> Moves::look_at(const Locked& locked, BearerId id, const std::string& card,
                                         MovingBearer& moving, WorkerRuntime*& worker) const {
  using What = MoveResult::What;
  const auto refused = [id](std::string why) {
    return MoveResult{.id = id, .what = What::kRefused, .why = std::move(why)};
  };
  const ran::BearerConfig* const found = parts_.store.find(id);
  if (found == nullptr) return refused("there is no such bearer");
  if (found->card == card) return MoveResult{.id = id, .what = What::kThere};
  if (!card.empty() && !found->card.empty())
    return refused(fmt::format("it is on card {}; allowed: to move it to the host first", found->card));
  const std::string& of = card.empty() ? found->card : card;
  if (const auto why = host_only(locked, *found, of); why != placement::HostOnly::none)
    return refused(std::string(placement::kHostOnlyTexts[static_cast<std::size_t>(why)]));
  worker = parts_.workers.owner_of(id.value);
  moving.config = *found;
  moving.config.card = card;
  // On a card its uplink goes by the host, too: there is no fence for it.
  moving.entry = parts_.cards.entry_of(locked, *worker, moving.config, true);
  return std::nullopt;
}

void Moves::catch_up() {
  if (!has_owed_) return;
  const Change change = parts_.control.change();
  settle();
}

void Moves::settle() {
  for (auto& [who, what] : owed_) {
    while (!what.empty() && who->execute(what.front(), kWorkerAnswers)) what.erase(what.begin());
  }
  std::erase_if(owed_, [](const auto& one) { return one.second.empty(); });
  has_owed_ = !owed_.empty();
}

Change Moves::run(Change&& change, MoveBatch& batch, bool to_card) {
  settle();
  if (owed_.contains(batch.worker)) {
    batch.fail_all(fmt::format("worker {} does not answer", batch.worker->config.name));
    return std::move(change);
  }
  if (to_card) {
    for (const MovingBearer& one : batch.bearers) parts_.numbers.begin_move(change, one.config.id);
    return ControlLock::apart(std::move(change),
                              [&batch] {
                                for (int i = 0; i < kTries; ++i) {
                                  if (i != 0) std::this_thread::sleep_for(kPause);
                                  for (MovingBearer& one : batch.bearers) one.failed.clear();
                                  MoveToCard(batch).run();
                                  if (batch.run != 0) break;
                                }
                                return 0;
                              })
        .first;
  }
  std::optional<MoveToHost> move;
  auto [here, drained] = ControlLock::apart(std::move(change), [&] {
    for (int i = 0; i < kTries; ++i) {
      if (i != 0) std::this_thread::sleep_for(kPause);
      for (MovingBearer& one : batch.bearers) one.failed.clear();
      move.emplace(batch);
      move->drain();
      if (batch.run != 0) break;
    }
    return 0;
  });
  (void)drained;
  std::vector<ran::CountLease> leases;
  for (const MovingBearer& one : batch.bearers) {
    if (!one.failed.empty()) continue;
    leases.push_back(parts_.numbers.moved_to_host(here, one.config, one.next_count, one.lease_end));
    parts_.store.replace(one.config);  // what else is told to the card meanwhile says that it is the host's
  }
  if (leases.empty()) return std::move(here);
  return ControlLock::apart(std::move(here),
                            [&] {
                              move->arrive(leases);
                              return 0;
                            })
      .first;
}

void Moves::finish(const Locked& locked, MoveBatch& batch, bool to_card) {
  if (!batch.owed.empty()) {
    log::warn("worker {} does not answer in the middle of a move; it hears later what is to be undone",
              batch.worker->config.name);
    auto& owed = owed_[batch.worker];
    owed.insert(owed.end(), batch.owed.begin(), batch.owed.end());
    has_owed_ = true;
  }
  for (const MovingBearer& one : batch.bearers) {
    if (one.is_lost) {
      // It begins anew on the card, behind the numbers that were left to it.
      ran::BearerConfig before = one.config;
      before.card = batch.link->settings().name;
      parts_.store.replace(before);
      parts_.numbers.moved_to_card(locked, before);
      (void)batch.link->put(std::array{parts_.cards.entry_of(locked, *batch.worker, before, true)});
      (void)batch.link->restart(before.id);
    }
    if (!one.failed.empty()) {
      if (to_card) parts_.numbers.give_up_move(locked, one.config.id);
      continue;
    }
    if (!to_card) {
      parts_.numbers.extend(locked, one.config.id);
      continue;
    }
    parts_.store.replace(one.config);
    parts_.numbers.moved_to_card(locked, one.config);
  }
}

std::vector<MoveResult> Moves::move(std::span<const BearerId> ids, const std::string& card) {
  const bool to_card = !card.empty();
  std::vector<MoveResult> results(ids.size());
  std::vector<bool> done(ids.size());
  for (;;) {
    Change change = parts_.control.change();
    MoveBatch batch;
    batch.leased = parts_.numbers.has_journal();
    std::vector<std::size_t> places;
    std::string of;
    for (std::size_t i = 0; i < ids.size() && batch.bearers.size() < kMostMoving; ++i) {
      const auto is_it = [&](const MovingBearer& one) { return one.config.id == ids[i]; };
      if (done[i] || std::ranges::any_of(batch.bearers, is_it)) continue;  // named twice: of the next batch
      MovingBearer moving;
      WorkerRuntime* worker = nullptr;
      const ran::BearerConfig* const found = parts_.store.find(ids[i]);
      const std::string from = found == nullptr ? "" : to_card ? card : found->card;
      if (auto result = look_at(change, ids[i], card, moving, worker)) {
        results[i] = *std::move(result);
        done[i] = true;
        continue;
      }
      if (batch.worker != nullptr && (batch.worker != worker || of != from)) continue;  // of another batch
      of = from;
      batch.worker = worker;
      batch.link = parts_.cards.link_before(*worker, from);
      batch.bearers.push_back(std::move(moving));
      places.push_back(i);
      done[i] = true;
    }
    if (batch.bearers.empty()) break;
    // A worker finds them by their identity.
    std::vector<std::size_t> order(places.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::size_t i) { return batch.bearers[i].config.id.value; });
    std::vector<MovingBearer> sorted;
    std::vector<std::size_t> sorted_places;
    for (const std::size_t i : order) {
      sorted.push_back(std::move(batch.bearers[i]));
      sorted_places.push_back(places[i]);
    }
    batch.bearers = std::move(sorted);
    change = run(std::move(change), batch, to_card);
    finish(change, batch, to_card);
    std::vector<BearerId> anew;
    for (const MovingBearer& one : batch.bearers) {
      if (one.failed.empty() && one.misses) anew.push_back(one.config.id);
    }
    const auto held = std::chrono::duration_cast<std::chrono::microseconds>(batch.held).count();
    for (std::size_t i = 0; i < batch.bearers.size(); ++i) {
      const MovingBearer& one = batch.bearers[i];
      results[sorted_places[i]] = {.id = one.config.id,
                                   .what = one.failed.empty() ? MoveResult::What::kMoved : MoveResult::What::kFailed,
                                   .why = one.failed,
                                   .in_flight = one.in_flight,
                                   .held_us = static_cast<std::uint64_t>(held)};
    }
    {
      const Change over = std::move(change);
    }
    for (const BearerId id : anew) {
      if (const auto done_anew = parts_.bearers.reestablish(id); !done_anew)
        log::warn("bearer {:#010x} has to begin RLC anew after its move: {}", id.value, done_anew.error().message);
    }
  }
  for (const MoveResult& result : results) note(result, to_card);
  return results;
}

void Moves::note(const MoveResult& result, bool to_card) {
  const std::lock_guard guard(counters_mutex_);
  switch (result.what) {
    case MoveResult::What::kThere:
      return;
    case MoveResult::What::kRefused:
      ++counters_.refused;
      return;
    case MoveResult::What::kFailed:
      ++counters_.failed;
      return;
    case MoveResult::What::kMoved:
      ++(to_card ? counters_.to_card : counters_.to_host);
      counters_.with_packets += result.in_flight != 0 ? 1 : 0;
      counters_.packets += result.in_flight;
      counters_.longest_us = std::max(counters_.longest_us, result.held_us);
      return;
  }
}

Moves::Counters Moves::counters() const {
  const std::lock_guard guard(counters_mutex_);
  return counters_;
}

}  // namespace splitplane::gnb

#include "placement/decision/consolidation.h"

#include <algorithm>
#include <optional>

namespace splitplane::placement {
namespace {

bool works(const WorkerFacts& worker) {
  return worker.serves && !worker.parked;
}

// The shards of a worker, the busiest first.
std::vector<std::size_t> shards_of(const Facts& facts, std::size_t worker) {
  std::vector<std::size_t> shards;
  for (std::size_t shard = 0; shard < kShards; ++shard) {
    if (facts.shards[shard].worker == worker) shards.push_back(shard);
  }
  std::stable_sort(shards.begin(), shards.end(),
                   [&](std::size_t a, std::size_t b) { return facts.shards[a].load > facts.shards[b].load; });
  return shards;
}

ShardMove move_of(std::size_t shard, std::size_t from, std::size_t to, ShardReason why) {
  return {ShardId{static_cast<std::uint8_t>(shard)}, static_cast<std::uint8_t>(from), static_cast<std::uint8_t>(to),
          why};
}

}  // namespace

const ShardDecision& Consolidation::decide(const Facts& facts) {
  decision_.wake.clear();
  decision_.moves.clear();
  decision_.park.clear();
  Loads loads{};
  std::array<std::size_t, 256> owned{};
  bool moving = false;
  for (const ShardFacts& shard : facts.shards) {
    ++owned[shard.worker];
    moving = moving || shard.moving;
  }
  const std::size_t workers = std::min<std::size_t>(facts.workers.size(), loads.size());
  for (std::size_t i = 0; i < workers; ++i) {
    const WorkerFacts& worker = facts.workers[i];
    if (worker.parked && owned[i] != 0) decision_.wake.push_back(static_cast<std::uint8_t>(i));
    loads[i] = worker.busy;
  }
  if (moving || !settings_.on || !decision_.wake.empty()) {
    fits_since_ = kNever;
    return decision_;
  }
  if (help_busy(facts, loads)) {
    fits_since_ = kNever;
    return decision_;
  }
  for (std::size_t i = 0; i < workers; ++i) {
    if (works(facts.workers[i]) && owned[i] == 0) decision_.park.push_back(static_cast<std::uint8_t>(i));
  }
  if (!decision_.park.empty()) return decision_;
  if (!spare_one(facts, loads)) {
    fits_since_ = kNever;
    return decision_;
  }
  if (fits_since_ == kNever) fits_since_ = facts.now;
  if (facts.now - fits_since_ < Time(settings_.calm_ms)) {
    decision_.moves.clear();
  } else {
    fits_since_ = kNever;
  }
  return decision_;
}

// Each worker that is too busy gives shards to a parked one: up to half of its load.
bool Consolidation::help_busy(const Facts& facts, Loads& loads) {
  const double limit = settings_.busy_percent / 100.0;
  const auto workers = facts.workers.size();
  std::vector<bool> woken(workers);
  for (std::size_t busy = 0; busy < workers; ++busy) {
    if (!works(facts.workers[busy]) || loads[busy] <= limit) continue;
    for (std::size_t parked = 0; parked < workers; ++parked) {
      const WorkerFacts& helper = facts.workers[parked];
      if (!helper.serves || !helper.parked || woken[parked] || helper.cards != facts.workers[busy].cards) continue;
      double moved = 0;
      const std::size_t before = decision_.moves.size();
      for (const std::size_t shard : shards_of(facts, busy)) {
        const double load = facts.shards[shard].load;
        if (load <= 0 || 2 * (moved + load) > loads[busy] + 1e-9) continue;
        moved += load;
        decision_.moves.push_back(move_of(shard, busy, parked, ShardReason::helped));
      }
      if (decision_.moves.size() == before) break;  // one shard is most of its load, which no worker can share
      loads[busy] -= moved;
      woken[parked] = true;
      decision_.wake.push_back(static_cast<std::uint8_t>(parked));
      break;
    }
  }
  return !decision_.wake.empty();
}

// Finds a place for each shard of the least busy worker whose shards fit on the others.
bool Consolidation::spare_one(const Facts& facts, Loads& loads) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < facts.workers.size(); ++i) {
    if (works(facts.workers[i])) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return loads[a] < loads[b]; });
  const double limit = settings_.fill_percent / 100.0;
  const auto fits = [&](std::size_t from) {
    Loads then = loads;
    for (const std::size_t shard : shards_of(facts, from)) {
      std::optional<std::size_t> best;  // the least busy: the busiest shards come first, so they spread
      for (const std::size_t to : order) {
        if (to == from || facts.workers[to].cards != facts.workers[from].cards) continue;
        if (!best || then[to] < then[*best]) best = to;
      }
      if (!best || then[*best] + facts.shards[shard].load > limit) return false;
      then[*best] += facts.shards[shard].load;
      decision_.moves.push_back(move_of(shard, from, *best, ShardReason::spared));
    }
    return true;
  };
  for (const std::size_t from : order) {
    if (fits(from)) return true;
    decision_.moves.clear();
  }
  return false;
}

void share_out(Facts& facts, std::span<const double, kShards> host_load) {
  std::array<double, 256> sum{};
  for (std::size_t shard = 0; shard < kShards; ++shard) sum[facts.shards[shard].worker] += host_load[shard];
  for (std::size_t shard = 0; shard < kShards; ++shard) {
    ShardFacts& its = facts.shards[shard];
    const double busy = its.worker < facts.workers.size() ? facts.workers[its.worker].busy : 0;
    its.load = sum[its.worker] > 0 ? busy * host_load[shard] / sum[its.worker] : 0;
  }
}

}  // namespace splitplane::placement

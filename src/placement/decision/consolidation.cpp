#include "placement/decision/consolidation.h"

#include <fmt/format.h>

#include <algorithm>

namespace splitplane::placement {
namespace {

double load_of(std::span<const LoopFacts> loops, std::size_t core) {
  double sum = 0;
  for (const LoopFacts& loop : loops) sum += loop.on == core ? loop.busy : 0;
  return sum;
}

std::size_t guests_of(std::span<const LoopFacts> loops, std::size_t core) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < loops.size(); ++i) n += i != core && loops[i].on == core ? 1 : 0;
  return n;
}

bool has_room(std::span<const LoopFacts> loops, std::size_t core, const LoopFacts& guest) {
  unsigned queues = guest.queues;
  for (const LoopFacts& loop : loops) queues += loop.on == core ? loop.queues : 0;
  return guests_of(loops, core) < kMostGuests && queues <= kMostQueues;
}

}  // namespace

std::optional<std::string> refuse(const ConsolidationSettings& settings) {
  if (settings.fill_percent < settings.busy_percent) return std::nullopt;
  return fmt::format("consolidate_fill: {} is not below consolidate_busy, {}; allowed: less, or workers come and go",
                     settings.fill_percent, settings.busy_percent);
}

void Consolidation::set(const ConsolidationSettings& settings) {
  settings_ = settings;
  fits_since_ = kNever;
}

std::optional<ConsolidationStep> Consolidation::decide(Time now, std::span<const LoopFacts> loops) {
  if (const auto step = wake_one(loops)) {
    fits_since_ = kNever;
    return step;
  }
  const auto step = settings_.on ? park_one(loops) : std::nullopt;
  if (!step) {
    fits_since_ = kNever;
    return std::nullopt;
  }
  if (fits_since_ == kNever) fits_since_ = now;
  if (now - fits_since_ < Time(settings_.calm_ms)) return std::nullopt;
  fits_since_ = kNever;
  return step;
}

// Of a core that is too busy the busiest guest goes home: that helps most, and only one loop stands still for a moment.
std::optional<ConsolidationStep> Consolidation::wake_one(std::span<const LoopFacts> loops) const {
  std::optional<ConsolidationStep> best;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    if (loops[i].on == i || !loops[i].takes_part) continue;
    const double load = load_of(loops, loops[i].on);
    const bool belongs = loops[i].group == loops[loops[i].on].group;
    if (settings_.on && belongs && load <= settings_.busy_percent / 100.0) continue;
    if (best && loops[i].busy <= loops[best->guest].busy) continue;
    best = ConsolidationStep{ConsolidationStep::Kind::kWake, i, loops[i].on, load};
  }
  return best;
}

// The least busy loop that is alone on its core goes to the busiest core on which it fits: so the fewest cores run.
std::optional<ConsolidationStep> Consolidation::park_one(std::span<const LoopFacts> loops) const {
  std::optional<ConsolidationStep> best;
  for (std::size_t guest = 0; guest < loops.size(); ++guest) {
    const LoopFacts& leaves = loops[guest];
    if (!leaves.takes_part || leaves.on != guest || guests_of(loops, guest) != 0) continue;
    if (best && leaves.busy >= loops[best->guest].busy) continue;
    std::optional<ConsolidationStep> here;
    for (std::size_t host = 0; host < loops.size(); ++host) {
      const LoopFacts& takes = loops[host];
      if (host == guest || !takes.takes_part || takes.on != host || takes.group != leaves.group) continue;
      if (!has_room(loops, host, leaves)) continue;
      const double load = load_of(loops, host) + leaves.busy;
      if (load > settings_.fill_percent / 100.0 || (here && load <= here->load)) continue;
      here = ConsolidationStep{ConsolidationStep::Kind::kPark, guest, host, load};
    }
    if (here) best = here;
  }
  return best;
}

}  // namespace splitplane::placement

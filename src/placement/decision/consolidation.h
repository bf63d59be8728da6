// Decides which workers work: shards of the least busy one move to the others, and its core parks. They come back when
// a worker becomes busy. Facts go in, moves come out, as in decider.h. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/outcome_list.h"
#include "base/types.h"
#include "placement/decision/facts.h"
#include "placement/decision/settings.h"

namespace splitplane::placement {

// clang-format off
#define SPLITPLANE_SHARD_REASONS(X)                                              \
  X(spared, "its load fits on the other workers, so that a core can park")       \
  X(helped, "its worker was too busy, and a core was parked")
// clang-format on
SPLITPLANE_OUTCOMES(ShardReason, SPLITPLANE_SHARD_REASONS)

struct ShardMove {
  ShardId shard{};
  std::uint8_t from = 0, to = 0;  // workers
  ShardReason why{};

  friend bool operator==(const ShardMove&, const ShardMove&) = default;
};

// In this order: wake, move, park. A worker is to park only when it has no shard any more.
struct ShardDecision {
  std::vector<std::uint8_t> wake;
  std::vector<ShardMove> moves;
  std::vector<std::uint8_t> park;
};

class Consolidation {
 public:
  explicit Consolidation(const ConsolidationSettings& settings) : settings_(settings) {}
  void set(const ConsolidationSettings& settings) { settings_ = settings; }

  // One period. While a shard moves, nothing new begins. Without `on`, parked workers that own shards wake, no more.
  // Shards move only between workers that are behind the same cards, because bearers there live on these.
  [[nodiscard]] const ShardDecision& decide(const Facts& facts);

 private:
  using Loads = std::array<double, 256>;  // of workers
  bool help_busy(const Facts& facts, Loads& loads);
  bool spare_one(const Facts& facts, Loads& loads);

  ConsolidationSettings settings_;
  ShardDecision decision_;
  Time fits_since_ = kNever;  // the load has fitted on one worker less since then
};

// Fills in the loads of the shards: each worker's busy share, split by `host_load`, what the bearers of each shard have
// on the host (packets a second).
void share_out(Facts& facts, std::span<const double, kShards> host_load);

}  // namespace splitplane::placement

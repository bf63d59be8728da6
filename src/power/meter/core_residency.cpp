#include "power/meter/core_residency.h"

#include <algorithm>

namespace splitplane::app {
namespace {

double since(std::uint64_t before, std::uint64_t now) {
  return now < before ? 0 : static_cast<double>(now - before);
}

// The share of the kernel's idle time that was spent deeper than C1.
double deeper_share(const std::vector<sensor::CState>& idle) {
  std::uint64_t shallow = 0, deeper = 0;
  for (const sensor::CState& state : idle) (state.depth() == sensor::Depth::deeper ? deeper : shallow) += state.time_us;
  return deeper == 0 ? 0 : static_cast<double>(deeper) / static_cast<double>(shallow + deeper);
}

}  // namespace

std::optional<power::model::Residency> residency_between(const LoopTime& before, const LoopTime& now,
                                                         const CoreFacts& facts) {
  const double busy = since(before.busy, now.busy), idle = since(before.idle, now.idle);
  const double paused = std::min(since(before.paused, now.paused), idle), asleep = since(before.asleep, now.asleep);
  const double all = busy + idle + asleep;
  if (all == 0) return std::nullopt;
  const double deep = deeper_share(facts.idle), pause = paused / all;
  power::model::Residency core{.package = facts.package, .second_thread = facts.second_thread};
  core.running.push_back(
      {.mhz = facts.mhz, .active = (busy + idle - paused) / all, .pause = now.timed_pause ? 0 : pause});
  core.tpause = now.timed_pause ? pause : 0;
  core.c1 = asleep / all * (1 - deep);
  core.c6 = asleep / all * deep;
  return core;
}

}  // namespace splitplane::app

#include "guard/control/seen.h"

namespace splitplane::app {
namespace {

constexpr std::size_t kFirstOwn =
    static_cast<std::size_t>(guard::Outcome::passed);  // before it: why no header was read

// Whether it went back where it came from.
bool is_reply(guard::Outcome outcome) {
  using guard::Outcome;
  return outcome == Outcome::challenged_rst || outcome == Outcome::challenged_syn || outcome == Outcome::handshake ||
         outcome == Outcome::older_reset || outcome == Outcome::half_open_reset;
}

}  // namespace

GuardFate fate_of(guard::Outcome outcome) {
  if (static_cast<std::size_t>(outcome) < kFirstOwn) return GuardFate::kDropped;
  const std::string_view text = guard::text_of(outcome);
  if (text.starts_with("dropped")) return GuardFate::kDropped;
  return text.starts_with("consumed") ? GuardFate::kConsumed : GuardFate::kSent;
}

std::uint64_t GuardSeen::sum(guard::Side side, GuardFate fate) const {
  const auto& counts = outcomes[static_cast<std::size_t>(side)];
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (fate_of(static_cast<guard::Outcome>(i)) == fate) all += counts[i];
  }
  return all;
}

std::uint64_t GuardSeen::sent_to(guard::Side side) const {
  const auto of_made = [this](guard::Made what) { return made[static_cast<std::size_t>(what)]; };
  std::uint64_t all = of_made(side == guard::Side::kClient ? guard::Made::window_update : guard::Made::syn_again);
  for (const guard::Side from : {guard::Side::kClient, guard::Side::kServer}) {
    for (std::size_t i = 0; i < guard::kOutcomeCount; ++i) {
      const auto outcome = static_cast<guard::Outcome>(i);
      if (fate_of(outcome) == GuardFate::kSent && is_reply(outcome) == (from == side))
        all += outcomes[static_cast<std::size_t>(from)][i];
    }
  }
  return all;
}

bool GuardSeen::balanced() const {
  for (const guard::Side side : {guard::Side::kClient, guard::Side::kServer}) {
    std::uint64_t all = 0;
    for (const std::uint64_t n : outcomes[static_cast<std::size_t>(side)]) all += n;
    if (all != received[static_cast<std::size_t>(side)]) return false;
  }
  return true;
}

GuardSeen look_beside(const guard::GuardStats& stats, const datapath::WorkerStats& loop) {
  GuardSeen seen;
  seen.loop = take_snapshot(loop);
  seen.silent_s = 1;
  for (std::size_t side = 0; side < seen.outcomes.size(); ++side) {
    seen.received[side] = loop.received[side].get();  // the order of the function's queues() is that of Side
    for (std::size_t i = 0; i < guard::kOutcomeCount; ++i) seen.outcomes[side][i] = stats.outcomes[side][i].get();
  }
  for (std::size_t i = 0; i < guard::kMadeCount; ++i) seen.made[i] = stats.made[i].get();
#define SPLITPLANE_READ(field, unit, help) seen.field = stats.field.get();
  SPLITPLANE_GUARD_COUNTERS(SPLITPLANE_READ)
  SPLITPLANE_GUARD_GAUGES(SPLITPLANE_READ)
#undef SPLITPLANE_READ
  return seen;
}

GuardSeen look_at(const guard::WorkerGuard& guard, const datapath::WorkerStats& loop) {
  GuardSeen seen = look_beside(guard.stats, loop);
  seen.silent_s = 0;
  for (const std::uint16_t index : guard.servers.used()) {
    const guard::ServerLine& line = guard.stats.servers[index];
    GuardServerSeen& server = seen.servers.emplace_back();
    server.rule = guard.servers.at(index).rule;
#define SPLITPLANE_READ(field, unit, help) server.field = line.field.get();
    SPLITPLANE_GUARD_SERVER_COUNTERS(SPLITPLANE_READ)
    SPLITPLANE_GUARD_SERVER_GAUGES(SPLITPLANE_READ)
#undef SPLITPLANE_READ
  }
  // Numbers of the tables are copied every 100 ms only while packets come.
  const auto sources = guard.sources.counts();
  const auto flows = guard.flows.counts();
  seen.sources_inserted = sources.inserted;
  seen.sources_live = sources.live;
  seen.flows_inserted = flows.inserted;
  seen.flows_used = flows.used;
  return seen;
}

}  // namespace splitplane::app

#include "guard/upkeep.h"

#include <algorithm>
#include <cmath>

namespace splitplane::guard {

void Upkeep::run(const GuardTime& now) {
  const auto passed = static_cast<std::uint32_t>(std::min<std::uint64_t>(now.milliseconds - last_ms_, 0xFFFFFFFF));
  last_ms_ = now.milliseconds;
  for (const std::uint16_t index : guard_.servers.used()) {
    ProtectedServer& server = guard_.servers.at(index);
    (void)server.arming.after({passed, server.unknown_syns, server.new_sources, server.capped_syns}, now.milliseconds);
    server.unknown_syns = server.new_sources = server.capped_syns = 0;
    server.decide();
  }
  rotate_keys(now.milliseconds);
  sweep(now.seconds);
  show_servers();
  show_tables();
}

std::uint64_t Upkeep::next_ms() const {
  for (const std::uint16_t index : guard_.servers.used()) {
    const ProtectedServer& server = guard_.servers.at(index);
    if (server.unknown_syns != 0 || server.capped_syns != 0 || server.arming.armed())
      return last_ms_ + Arming::kWindowMs;
  }
  return kNever;
}

// After a long sleep both keys are too old, so two new ones are taken.
void Upkeep::rotate_keys(std::uint64_t now_ms) {
  const std::uint64_t length = guard_.settings.key_seconds * std::uint64_t{1000};
  if (length == 0 || now_ms - key_ms_ < length) return;
  guard_.rotate_keys();
  if (now_ms - key_ms_ >= 2 * length) guard_.rotate_keys();
  key_ms_ = now_ms;
}

void Upkeep::sweep(std::uint32_t now) {
  const auto part = [](std::uint64_t buckets) {
    return static_cast<unsigned>(std::min<std::uint64_t>(buckets / kWindowsPerSweep + 1, kMostBuckets));
  };
  guard_.sources.sweep(now, part(guard_.sources.buckets()));
  guard_.flows.sweep(now, part(guard_.flows.buckets()));
}

void Upkeep::show_servers() {
  std::uint64_t armed = 0;
  for (const std::uint16_t index : guard_.servers.used()) {
    const ProtectedServer& server = guard_.servers.at(index);
    ServerLine& line = guard_.stats.servers[index];
    if (server.acts && line.armed.get() == 0) line.armings.add(1);
    line.armed.set(server.acts ? 1 : 0);
    line.syns_per_second.set(static_cast<std::uint64_t>(std::lround(server.arming.syns_per_second())));
    line.half_open_percent.set(
        static_cast<std::uint64_t>(std::lround(std::max(server.arming.half_open_percent(), 0.0))));
    line.hold_seconds.set(server.arming.hold_seconds());
    line.mss.set(server.mss);
    line.window_scale.set(server.scale);
    armed += server.acts ? 1 : 0;
  }
  guard_.stats.servers_armed.set(armed);
}

void Upkeep::show_tables() {
  GuardStats& stats = guard_.stats;
  const SourceTable::Counts sources = guard_.sources.counts();
  stats.source_entries.set(sources.entries);
  stats.sources_live.set(sources.live);
  stats.sources_inserted.set(sources.inserted);
  stats.sources_evicted.set(sources.evicted);
  stats.sources_refused.set(sources.refused);
  const FlowTable::Counts flows = guard_.flows.counts();
  stats.flow_entries.set(flows.entries);
  stats.flows_used.set(flows.used);
  stats.flows_inserted.set(flows.inserted);
  stats.flows_refused.set(flows.refused);
  stats.flows_expired.set(flows.expired);
}

}  // namespace splitplane::guard

#include "gpu/rings/watchdog.h"

#include <fmt/format.h>

#include <algorithm>

#include "gpu/rings/memory_order.h"

namespace splitplane::gpu {

std::string Finding::sentence() const {
  return fmt::format("ring {}, {}: {}", ring, receiver ? "receiver" : "sender", text_of(fault));
}

Watchdog::Watchdog(const SharedView& counters, std::uint32_t rings, std::uint64_t within_ns)
    : counters_(counters), within_ns_(within_ns), rings_(rings) {}

std::uint64_t Watchdog::Pulse::age(std::uint64_t now_value, std::uint64_t now) {
  if (now_value != value || since == 0) {
    value = now_value;
    since = now;
  }
  return now - since;
}

void Watchdog::look_at(const EngineCounters& engine, Pulse& steps, std::uint64_t now, Finding finding,
                       std::vector<Finding>& found) const {
  const std::uint64_t age = steps.age(load_relaxed(&engine.steps), now);
  const bool stopped = load_relaxed(&engine.stopped) != 0;
  if (!stopped && age >= within_ns_) {
    finding.fault = Fault::engine_stalled;
    found.push_back(finding);
  }
  finding.fault = static_cast<Fault>(load_relaxed(&engine.fault));
  if (finding.fault != Fault::none) found.push_back(finding);
}

std::vector<Finding> Watchdog::look(std::uint64_t now, std::span<const std::uint64_t> nic_missed) {
  std::vector<Finding> found;
  for (std::uint32_t i = 0; i < rings_.size(); ++i) {
    PerRing& r = rings_[i];
    look_at(counters_.rx[i], r.rx_steps, now, {i, true, Fault::none}, found);
    look_at(counters_.tx[i], r.tx_steps, now, {i, false, Fault::none}, found);
    if (i >= nic_missed.size()) continue;
    // A receiver that waits for a slot fills no descriptor. So the NIC has none, and drops frames.
    const std::uint64_t quiet = std::min(r.received.age(load_relaxed(&counters_.rx[i].packets), now),
                                         r.waits.age(load_relaxed(&counters_.rx[i].waits), now));
    // `nic_missed` was read before the engine's counters. How much of it is from before the last frame is known only at
    // the next look.
    if (quiet == 0) {
      r.missed_then.reset();
    } else if (!r.missed_then) {
      r.missed_then = nic_missed[i];
    }
    if (quiet >= within_ns_ && nic_missed[i] > *r.missed_then) {
      found.push_back({i, true, Fault::receiver_deaf});
    }
  }
  return found;
}

}  // namespace splitplane::gpu

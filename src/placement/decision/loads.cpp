#include "placement/decision/loads.h"

#include <cmath>

namespace splitplane::placement {
namespace {

// What came since the last look at a counter.
std::uint64_t grown(std::uint64_t now, std::uint64_t before) {
  return now >= before ? now - before : now;
}

}  // namespace

void Loads::update(const Facts& facts, const Settings& settings) {
  const bool same_load = settings.load_of == load_of_;
  load_of_ = settings.load_of;
  if (last_ != kNever && facts.now <= last_) return;
  const double seconds =
      last_ == kNever ? settings.period_ms / 1e3 : std::chrono::duration<double>(facts.now - last_).count();
  last_ = facts.now;
  const auto weight = static_cast<float>(1 - std::exp(-seconds * 1e3 / settings.load_ms));
  const double per_second = 1 / seconds;
  slots_.resize(facts.bearers.size());
  std::uint64_t packets = 0, octets = 0;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const BearerFacts& bearer = facts.bearers[i];
    Slot& slot = slots_[i];
    if (slot.id != bearer.id) {
      slot = {.id = bearer.id, .packets = bearer.packets, .octets = bearer.octets};
      continue;
    }
    const std::uint64_t more_packets = grown(bearer.packets, slot.packets);
    const std::uint64_t more_octets = grown(bearer.octets, slot.octets);
    slot.packets = bearer.packets;
    slot.octets = bearer.octets;
    packets += more_packets;
    octets += more_octets;
    const std::uint64_t more = load_of_ == LoadOf::kPackets ? more_packets : more_octets;
    const auto sample = static_cast<float>(static_cast<double>(more) * per_second);
    const bool goes_on = slot.measured && same_load;
    slot.load = goes_on ? slot.load + weight * (sample - slot.load) : sample;
    slot.measured = true;
  }
  if (load_of_ == LoadOf::kPackets) {
    unit_ = 1;
  } else if (packets != 0) {
    unit_ = std::max(1.0, static_cast<double>(octets) / static_cast<double>(packets));
  }
}

}  // namespace splitplane::placement

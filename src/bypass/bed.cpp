#include "bypass/bed.h"

#include <algorithm>

#include "bypass/bench_wire.h"

namespace splitplane::bypass {

Expected<std::unique_ptr<Bed>> Bed::make(const Scenario& s, const NicMemory& memory, nicmodel::Wire& wire,
                                         std::vector<gpu::FlowFilter> filters, const DrivenNic::MapDoorbell& map) {
  std::unique_ptr<Bed> bed(new Bed(wire));
  bed->model_.add_memory(memory.dma.host, memory.dma.bytes, memory.dma.bus);
  // The model counts polls, not time.
  auto nic = DrivenNic::bring_up(
      bed->model_, s, memory, {.filters = std::move(filters), .map = map, .sleep = [](std::chrono::microseconds) {}});
  if (!nic) return tl::unexpected(nic.error());
  bed->nic_ = *std::move(nic);
  return bed;
}

std::uint64_t Bed::lost_at_nic() const {
  std::uint64_t sum = 0;
  for (const Counter& reason : model_.counters().dropped) sum += reason.get();
  return sum;
}

Bed::PerRing Bed::no_descriptor() const {
  PerRing all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = model_.counters().no_descriptor[i].get();
  return all;
}

}  // namespace splitplane::bypass

#include "sessions/flow_counters.h"

#include <utility>

namespace splitplane::datapath {

FlowCounters::Memory FlowCounters::make(Teid session, std::uint32_t capacity) const {
  Memory memory{.counts = std::make_unique<FlowCounts>(), .places = {}};
  if (!by_teid_.is_attached(ran::shard_of(session.value))) memory.places.resize(capacity);
  return memory;
}

void FlowCounters::open(Teid session, Memory& memory) {
  if (!memory.places.empty()) by_teid_.attach(ran::shard_of(session.value), std::move(memory.places));
  memory.counts = by_teid_.exchange(session.value, std::move(memory.counts));
}

std::unique_ptr<FlowCounts> FlowCounters::close(Teid session) {
  return find(session.value) == nullptr ? nullptr : by_teid_.exchange(session.value, nullptr);
}

}  // namespace splitplane::datapath

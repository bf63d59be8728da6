#include "phy/air_link.h"

#include <algorithm>

namespace splitplane::phy {

AirLink::AirLink(const Settings& settings)
    : impairment_(settings.seed, static_cast<double>(settings.ticks_per_s) / 1e6, settings.impairments),
      capacity_(settings.capacity),
      copies_(settings.copies) {
  heap_.reserve(capacity_);
}

AirLink::~AirLink() {
  for (const Held& held : heap_) rte_pktmbuf_free(held.frame);
}

void AirLink::take(rte_mbuf* const* frames, unsigned n, Ticks now) {
  counters_.received += n;
  for (unsigned i = 0; i < n; ++i) {
    const Fate fate = impairment_.next(now);
    if (fate.lost) {
      ++counters_.lost;
      counters_.burst_lost += fate.in_burst ? 1 : 0;
      rte_pktmbuf_free(frames[i]);
      continue;
    }
    // Makes the copy while this thread still owns the frame.
    rte_mbuf* copy = nullptr;
    if (fate.doubled) [[unlikely]] {
      copy = rte_pktmbuf_copy(frames[i], copies_, 0, UINT32_MAX);
      ++(copy != nullptr ? counters_.duplicated : counters_.no_buffer);
    }
    hold(frames[i], now, fate.due);
    if (copy != nullptr) [[unlikely]]
      hold(copy, now, fate.copy_due);
  }
}

void AirLink::hold(rte_mbuf* frame, Ticks now, Ticks due) {
  if (heap_.size() == capacity_) [[unlikely]] {
    ++counters_.air_full;
    rte_pktmbuf_free(frame);
    return;
  }
  counters_.delayed += due > now ? 1 : 0;
  counters_.overtook += due < latest_due_ ? 1 : 0;
  latest_due_ = std::max(latest_due_, due);
  heap_.push_back({due, arrivals_++, frame});
  std::push_heap(heap_.begin(), heap_.end());
}

unsigned AirLink::give(rte_mbuf** frames, unsigned room, Ticks now) {
  unsigned given = 0;
  while (given < room && !heap_.empty() && heap_.front().due <= now) {
    frames[given++] = heap_.front().frame;
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
  }
  counters_.passed += given;
  return given;
}

AirCounters AirLink::counters() const {
  AirCounters now = counters_;
  now.held = heap_.size();
  return now;
}

}  // namespace splitplane::phy

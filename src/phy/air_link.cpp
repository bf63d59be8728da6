#include "phy/air_link.h"

namespace splitplane::phy {

AirLink::AirLink(const Settings& settings)
    : air_({settings.seed, settings.capacity, settings.ticks_per_s, settings.impairments}), copies_(settings.copies) {}

AirLink::~AirLink() {
  air_.give(~0U, ~Ticks{0}, [](rte_mbuf* frame) { rte_pktmbuf_free(frame); });
}

void AirLink::take(rte_mbuf* const* frames, unsigned n, Ticks now) {
  const auto copy = [&](const rte_mbuf* frame) { return rte_pktmbuf_copy(frame, copies_, 0, UINT32_MAX); };
  const auto drop = [](rte_mbuf* frame) { rte_pktmbuf_free(frame); };
  for (unsigned i = 0; i < n; ++i) air_.take(frames[i], now, copy, drop);
}

unsigned AirLink::give(rte_mbuf** frames, unsigned room, Ticks now) {
  return air_.give(room, now, [&](rte_mbuf* frame) { *frames++ = frame; });
}

}  // namespace splitplane::phy

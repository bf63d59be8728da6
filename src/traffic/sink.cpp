#include "traffic/sink.h"

namespace splitplane::traffic {

// The first stamp decides which run is ours, unless the generator runs in this process.
Seen Sink::judge(Reading& reading) {
  if (reading.seen != Seen::stamped) return reading.seen;
  if (!run_) run_ = reading.stamp.run;
  if (reading.stamp.run != *run_) return Seen::other_run;
  return reading.stamp.flow < checker_.flows() ? Seen::stamped : Seen::flow_unknown;
}

void Sink::take(std::uint64_t now) {
  for (unsigned i = 0; i < burst_.size; ++i) {
    rte_prefetch0(burst_.mbuf[i]);
    datapath::prefetch_octets(burst_.mbuf[i]);
  }
  // First all stamps, then all flows, so that the flows' lines arrive in the cache meanwhile.
  std::array<Stamp, datapath::kBurst> stamps;
  unsigned stamped = 0;
  std::uint64_t bytes = 0, on_air = 0;
  for (unsigned i = 0; i < burst_.size; ++i) {
    rte_mbuf* const m = burst_.mbuf[i];
    bytes += m->pkt_len;
    Reading reading = read_frame({datapath::octets(m), m->data_len});
    const Seen seen = judge(reading);
    stats_.seen[static_cast<std::size_t>(seen)].add(1);
    if (seen != Seen::stamped) continue;
    rte_prefetch0(checker_.line(reading.stamp.flow));
    on_air += reading.on_air ? 1U : 0U;
    stamps[stamped++] = reading.stamp;
  }
  for (unsigned i = 0; i < stamped; ++i) {
    const Stamp& stamp = stamps[i];
    checker_.arrive(stamp.flow, stamp.sequence);
    if (stamp.intended_ns > now) [[unlikely]]
      stats_.from_future.add(1);
    latency_.record(stamp.intended_ns > now ? 0 : now - stamp.intended_ns);
  }
  rte_pktmbuf_free_bulk(burst_.mbuf.data(), burst_.size);
  stats_.bytes.add(bytes);
  stats_.on_air.add(on_air);
  if (stamped == 0) return;
  if (first_ns_ == 0) first_ns_ = now;
  last_ns_ = now;
}

}  // namespace splitplane::traffic

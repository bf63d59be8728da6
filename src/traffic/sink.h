// The checking sink. It receives from a port, finds the stamps, and computes loss, duplication and reordering per flow,
// and the one-way latency from the intended send time. It counts all other frames by kind.
#pragma once

#include <rte_ethdev.h>

#include <array>
#include <cstdint>
#include <optional>

#include "base/counter.h"
#include "base/histogram.h"
#include "engine/burst.h"
#include "traffic/flow_checker.h"
#include "traffic/frame_reader.h"

namespace splitplane::traffic {

struct SinkSettings {
  std::uint16_t port = 0, queue = 0;
  std::uint32_t flows = 65536;
  std::uint32_t window = 256;
  std::optional<std::uint32_t> run;  // absent: that of the first stamp
};

// Only the sink's thread writes; the progress line reads.
struct SinkStats {
  std::array<Counter, kSeenCount> seen;
  Counter bytes;        // of all frames
  Counter on_air;       // stamped frames that came on the air; the others came on N3
  Counter from_future;  // stamped later than the sink's clock: their latency counts as 0
};

class Sink {
 public:
  explicit Sink(const SinkSettings& settings)
      : settings_(settings), run_(settings.run), checker_(settings.flows, settings.window) {}
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  // Takes one burst and returns how many frames it held. The clock is read after the frames are there.
  template <class Clock>
  unsigned poll(const Clock& clock) {
    burst_.size = rte_eth_rx_burst(settings_.port, settings_.queue, burst_.mbuf.data(), datapath::kBurst);
    if (burst_.size != 0) take(clock());
    return burst_.size;
  }

  [[nodiscard]] const SinkStats& stats() const { return stats_; }
  [[nodiscard]] const FlowChecker& checker() const { return checker_; }
  [[nodiscard]] const Histogram& latency() const { return latency_; }
  [[nodiscard]] std::optional<std::uint32_t> run() const { return run_; }
  [[nodiscard]] std::uint64_t stamped() const { return stats_.seen[static_cast<std::size_t>(Seen::stamped)].get(); }
  // Of stamped frames; both are 0 before the first.
  [[nodiscard]] std::uint64_t first_ns() const { return first_ns_; }
  [[nodiscard]] std::uint64_t last_ns() const { return last_ns_; }

 private:
  void take(std::uint64_t now);
  [[nodiscard]] Seen judge(Reading& reading);

  SinkSettings settings_;
  std::optional<std::uint32_t> run_;
  FlowChecker checker_;
  Histogram latency_;
  SinkStats stats_;
  datapath::Burst burst_;
  std::uint64_t first_ns_ = 0, last_ns_ = 0;
};

}  // namespace splitplane::traffic

// Probes watch a pipeline from inside, as a template parameter. SampledCycles measures the stages of a running user
// plane. TraceProbe (trace.h) records the way of one packet. NoProbe leaves no code behind.
#pragma once

#include <rte_cycles.h>

#include "engine/stats.h"

namespace splitplane::datapath {

// Base of probes that look at no packet; its calls compile to nothing.
struct Blind {
  void parsed(const void*, unsigned) {}
  void found(const void*, unsigned) {}
  void read(const void*, unsigned) {}
};

struct NoProbe : Blind {
  void begin(WorkerStats&) {}
  void resume() {}
  void stage(Stage, unsigned) {}
};

// Reads the clock at stage borders on one burst in kSampleEvery. A pipeline calls begin() at the start of a burst, and
// stage(s, n) at the end of stage s, which `n` packets entered. It calls resume() before further stages of a burst that
// had to wait.
class SampledCycles : public Blind {
 public:
  void begin(WorkerStats& stats) {
    stats_ = &stats;
    sampling_ = ++bursts_ % kSampleEvery == 0;
    if (sampling_) last_ = rte_rdtsc();
  }
  void resume() {
    if (sampling_) last_ = rte_rdtsc();
  }
  void stage(Stage s, unsigned n) {
    StageStats& stage = stats_->stages[static_cast<std::size_t>(s)];
    stage.packets.add(n);
    if (!sampling_) [[likely]]
      return;
    const std::uint64_t now = rte_rdtsc();
    stage.sampled_packets.add(n);
    stage.sampled_cycles.add(now - last_);
    last_ = rte_rdtsc();
  }

 private:
  WorkerStats* stats_ = nullptr;
  unsigned bursts_ = 0;
  bool sampling_ = false;
  std::uint64_t last_ = 0;
};

}  // namespace splitplane::datapath

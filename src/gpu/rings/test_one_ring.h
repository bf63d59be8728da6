// For tests only: one ring with its engines and a NIC's DMA side, in lock-step.
#pragma once

#include "gpu/rings/test_nic.h"

namespace splitplane::gpu::test {

inline RingSettings small() {
  return {.ring_size = 32, .slots = 96, .doorbell_within_ns = 0};
}

// The test moves the time.
template <class Function = Echo>
struct OneRing {
  explicit OneRing(const RingSettings& settings = small(), const Function& function = {})
      : bench(settings), set(bench.rings, function, bench.view.stop), nic(bench.rings[0]) {}

  Bench bench;
  RingSet<Function> set;
  TestNic nic;
  std::uint64_t now = 1;

  std::uint32_t step(std::uint64_t later = 100) { return set.step(now += later); }
  // Steps until nothing moves; returns what the NIC sent.
  std::vector<Bytes> settle() {
    std::vector<Bytes> sent;
    for (unsigned quiet = 0; quiet < 3;) {
      const std::uint32_t moved = step();
      const auto frames = nic.transmit();
      sent.insert(sent.end(), frames.begin(), frames.end());
      quiet = moved + frames.size() == 0 ? quiet + 1 : 0;
    }
    return sent;
  }
  const EngineCounters& rx() const { return bench.view.rx[0]; }
  const EngineCounters& tx() const { return bench.view.tx[0]; }
  std::uint64_t count(Verdict v) const { return bench.view.verdicts[0].count[static_cast<std::size_t>(v)]; }
};

}  // namespace splitplane::gpu::test

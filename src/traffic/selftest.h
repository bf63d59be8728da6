// The pair tests itself: generator, synthetic device and sink over memory ports. In virtual time the machine cannot
// disturb, so counts and percentiles must be exact. In real time it finds the pair's ceiling, rate error and latency
// floor on this machine.
#pragma once

#include <array>
#include <cstdint>

#include "base/expected.h"
#include "traffic/flow_checker.h"
#include "traffic/synthetic_device.h"

namespace splitplane::traffic {

inline constexpr std::array<double, 5> kPercents{50, 90, 99, 99.9, 100};

struct Percentiles {
  std::array<std::uint64_t, kPercents.size()> truth_ns{}, sink_ns{};
  // The largest deviation as a multiple of the allowed one: 1 % or 1 us, whichever is more.
  [[nodiscard]] double worst() const;
};

struct ExactResult {
  std::uint64_t sent = 0;
  DeviceCounts device;
  FlowCounts sink;
  Percentiles latency;
  [[nodiscard]] bool good() const;
};

struct CeilingResult {
  double pair_mpps = 0;       // generator and sink taking turns on one core, over net_ring
  double generator_mpps = 0;  // the generator alone, into net_null
};

struct RateResult {
  double asked = 0, measured = 0;  // packets a second
  std::uint64_t sent = 0, late = 0, lost = 0;
  std::array<std::uint64_t, kPercents.size()> latency_ns{};
  [[nodiscard]] double error_percent() const { return (measured - asked) / asked * 100; }
};

struct SelfTestResult {
  ExactResult exact;
  CeilingResult ceiling;
  RateResult rate;      // a fifth of the ceiling, straight into the sink: the pair's own latency
  RateResult capacity;  // through a device of known capacity, at twice that rate: `asked` is the capacity
};

// Runs on the calling thread, which DPDK must know, and takes about four times `seconds`. The error says that a port
// could not be made.
[[nodiscard]] Expected<SelfTestResult> run_self_test(double seconds);

}  // namespace splitplane::traffic

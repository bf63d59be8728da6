// The tree /splitplane/... in DPDK's telemetry, which dpdk-telemetry.py and its exporters read on the socket of the
// EAL. Its names are those of docs/metrics.md.
#pragma once

#include <functional>
#include <memory>

#include "base/expected.h"
#include "observe/observation.h"

namespace splitplane::app {

// Asked on a thread of DPDK's.
struct TelemetrySource {
  std::function<Observation()> observe;
  std::function<Expected<BearerView>(BearerId)> bearer;
};

// Answers from its source as long as it lives. One at a time in a process: DPDK knows no way to take a command back.
class TelemetryTree {
 public:
  [[nodiscard]] static Expected<std::unique_ptr<TelemetryTree>> publish(TelemetrySource source);
  ~TelemetryTree();  // from then on every command answers with an error
  TelemetryTree(const TelemetryTree&) = delete;
  TelemetryTree& operator=(const TelemetryTree&) = delete;

 private:
  TelemetryTree() = default;
};

}  // namespace splitplane::app

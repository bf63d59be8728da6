// The tree /splitplane/... in DPDK's telemetry, which dpdk-telemetry.py and its exporters read on the socket of the
// EAL. Its names are those of docs/reference/metrics.md.
#pragma once

#include <functional>
#include <memory>

#include "base/expected.h"
#include "observe/observation.h"

namespace splitplane::app {

// A thread of DPDK calls these.
struct TelemetrySource {
  std::function<Observation()> observe;
  std::function<Expected<BearerView>(BearerId)> bearer;
};

// Answers from its source while it lives. A process may have only one at a time, because DPDK cannot remove a command.
class TelemetryTree {
 public:
  [[nodiscard]] static Expected<std::unique_ptr<TelemetryTree>> publish(TelemetrySource source);
  ~TelemetryTree();  // after that every command answers with an error
  TelemetryTree(const TelemetryTree&) = delete;
  TelemetryTree& operator=(const TelemetryTree&) = delete;

 private:
  TelemetryTree() = default;
};

}  // namespace splitplane::app

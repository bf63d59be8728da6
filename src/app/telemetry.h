// The tree /splitplane/... in DPDK's telemetry, which dpdk-telemetry.py and its exporters read on the socket of the
// EAL. Its names are those of docs/metrics.md.
#pragma once

#include "app/user_plane.h"

namespace splitplane::app {

// Answers for `plane` as long as it lives. One at a time in a process: DPDK knows no way to take a command back.
class TelemetryTree {
 public:
  [[nodiscard]] static Expected<std::unique_ptr<TelemetryTree>> publish(UserPlane& plane);
  ~TelemetryTree();  // from then on every command answers with an error
  TelemetryTree(const TelemetryTree&) = delete;
  TelemetryTree& operator=(const TelemetryTree&) = delete;

 private:
  TelemetryTree() = default;
};

}  // namespace splitplane::app

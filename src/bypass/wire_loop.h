// The middle of a run between the ring driver and frames from elsewhere, for any NIC. It watches the run until its end,
// waits for frames under way, and computes the account.
#pragma once

#include <array>
#include <chrono>

#include "bypass/driver.h"
#include "bypass/wire_run.h"

namespace splitplane::bypass {

// What the NIC counted since its receive path was opened.
struct NicBooks {
  std::uint64_t arrived = 0, delivered = 0, sent = 0;
  std::vector<std::pair<std::string_view, std::uint64_t>> lost;  // by reason
  std::array<std::uint64_t, gpu::kMaxRings> no_descriptor{};     // of those, without a descriptor, by ring
  bool link_up = true;
  std::string gone;  // why it no longer counts; empty: it counts
  [[nodiscard]] std::uint64_t all_lost() const;
};

class WireNic {
 public:
  virtual ~WireNic() = default;
  // Only the thread of the loop calls these two, because the counters of a real NIC clear when they are read.
  [[nodiscard]] virtual NicBooks books() = 0;
  // No frame arrives any more; frames under way continue.
  virtual Expected<void> shut() = 0;
  // Also sends no frame, and releases the memory unless the error says otherwise.
  virtual Expected<void> stop() = 0;
};

// Begins when the receive path is open. `driver` has started and drives `rings`; the loop stops it. The loop looks at
// everything each `look`.
[[nodiscard]] WireRunResult run_loop(const Scenario& scenario, WireNic& nic, const DrivenNic& rings, Driver& driver,
                                     const Observer& observer, std::chrono::milliseconds look);

}  // namespace splitplane::bypass

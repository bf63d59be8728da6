// The middle of a run between the ring driver and frames of others, whatever the NIC is: watches it until it shall end,
// lets out what is under way, and draws up the books.
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
  std::array<std::uint64_t, gpu::kMaxRings> no_descriptor{};     // of those, for want of a descriptor, by ring
  bool link_up = true;
  std::string gone;  // why it counts no more, if so
  [[nodiscard]] std::uint64_t all_lost() const;
};

class WireNic {
 public:
  virtual ~WireNic() = default;
  // These two by the thread that runs the loop only: a card's counters are cleared when they are read.
  [[nodiscard]] virtual NicBooks books() = 0;
  // Nothing arrives any more; what is under way goes on.
  virtual Expected<void> shut() = 0;
  // Sends nothing either, and lets go of the memory unless this says otherwise.
  virtual Expected<void> stop() = 0;
};

// From the time when the receive path is open; `driver` has started, drives `rings`, and is stopped. Looks at
// everything each `look`.
[[nodiscard]] WireRunResult run_loop(const Scenario& scenario, WireNic& nic, const DrivenNic& rings, Driver& driver,
                                     const Observer& observer, std::chrono::milliseconds look);

}  // namespace splitplane::bypass

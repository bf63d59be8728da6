// The ring driver on CPU threads with a real 82599 behind any Bar, and frames from its own link. No tester checks the
// packets; the NIC's counters must agree with those of the engines. It was never tried on hardware: in its test the
// model's registers stand for the NIC's.
#pragma once

#include <chrono>

#include "bypass/scenario.h"
#include "bypass/wire_run.h"
#include "gpu/nic/bar.h"
#include "gpu/nic/memory.h"

namespace splitplane::bypass {

struct CardSettings {
  std::chrono::milliseconds link_within{10'000};  // until the link is up
  bool sfp_plus = false;                          // the NIC has an SFP+ slot
};

// Runs until `observer` returns false or the NIC is gone. `observer` is called every 100 ms, also during the wait for
// the link (as second 0). `memory` gives bus addresses that the NIC can use. It is kept (MemoryProvider::keep) if the
// NIC did not stop or did not answer.
[[nodiscard]] Expected<WireRunResult> run_on_card(const Scenario& scenario, gpu::Bar& bar, gpu::MemoryProvider& memory,
                                                  const Observer& observer, const CardSettings& settings = {});

}  // namespace splitplane::bypass

// The ring driver on CPU threads with a real 82599 behind any Bar, and frames from its own link. Nobody judges the
// packets; what the card's counters say must agree with what the engines counted. Not tried on hardware: the model's
// registers stand for the card's in its test.
#pragma once

#include <chrono>

#include "bypass/scenario.h"
#include "bypass/wire_run.h"
#include "gpu/nic/bar.h"
#include "gpu/nic/memory.h"

namespace splitplane::bypass {

struct CardSettings {
  std::chrono::milliseconds link_within{10'000};  // until the link is up
  bool sfp_plus = false;                          // the card has an SFP+ slot
};

// Until `observer`, called every 100 ms also while the link is awaited (at second 0), says false, or the card is gone.
// `memory` gives bus addresses that the card understands; it is kept (MemoryProvider::keep) where the card did not stop
// or did not answer.
[[nodiscard]] Expected<WireRunResult> run_on_card(const Scenario& scenario, gpu::Bar& bar, gpu::MemoryProvider& memory,
                                                  const Observer& observer, const CardSettings& settings = {});

}  // namespace splitplane::bypass

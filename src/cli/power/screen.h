// Power policies as text for people: the answer of power.show, and the list of policies and their settings.
#pragma once

#include <string>

#include "control/params.h"

namespace splitplane::app {

// Adds to each worker of an answer of power.show where its time went since `before` (an earlier answer, or null: since
// the start): "share": {"busy": 0.1, "idle": ..., "paused": ..., "asleep": ...}, idle without the pauses;
// and beside them cpu_share: what the kernel works for a sleeping thread is in both.
void add_shares(Json& now, const Json& before);
// An answer with shares.
[[nodiscard]] std::string render_power(const Json& answer);
// The member `meter` of an answer: what measures and models the machine's power, or null.
[[nodiscard]] std::string render_meter(const Json& meter);
// "budget, latency_us 20, spin_us 2, ..."
[[nodiscard]] std::string policy_text(const Json& policy);

[[nodiscard]] std::string kinds_table(bool markdown);
[[nodiscard]] Json kinds_json();

}  // namespace splitplane::app

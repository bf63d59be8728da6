// What a user can choose about a policy: plain data, the same from a file, over the control socket and in a replay.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace splitplane::power {

enum class Kind : std::uint8_t { busy, yield, paper, paper_printed, l3fwd, metronome, budget };
inline constexpr std::array<std::string_view, 7> kKindNames{"busy",  "yield",     "paper", "paper_printed",
                                                            "l3fwd", "metronome", "budget"};

struct YieldSettings {
  unsigned empty_rounds = 64;  // before a sleep
  unsigned sleep_us = 50;
};

// Algorithm 1 of paper PWR; defaults as printed there. What it leaves undefined has additional settings.
struct PaperSettings {
  unsigned short_idle_polls = 10;  // empty polls of a queue until its idle hint is short
  unsigned long_idle_polls = 300;  // ... until it is long: interrupts
  unsigned short_idle_us = 1;      // the short hint: a pause
  unsigned step_packets = 32;      // if more packets wait than this, the trend grows by trend_step
  unsigned climb_packets = 64;     // ... by trend_climb
  unsigned max_packets = 96;       // ... the highest P-state at once
  unsigned trend_step = 3, trend_climb = 250, trend_limit = 10000;
  unsigned wait_ms = 10;  // longest sleep
  // Completions (not printed):
  unsigned trend_decay_us = 100'000;  // the time in which the trend halves
  unsigned down_dwell_ms = 100;       // at one P-state before a step down
  double down_utilisation = 0.7;      // a step down must leave the core below this
};

// DPDK's l3fwd-power (legacy mode, 22.11) for comparison, with its thresholds and with its defects that are not
// crashes.
struct L3fwdSettings {
  unsigned wait_ms = 10;
};

// Metronome for one thread a queue, for comparison.
struct MetronomeSettings {
  unsigned latency_us = 10;  // target of the mean
};

// Ours: as few watts as a latency budget allows.
struct BudgetSettings {
  unsigned latency_us = 80;    // how much delay idling may add to a packet in the worker
  unsigned spin_us = 2;        // how long to poll after a packet before idling
  unsigned max_sleep_ms = 10;  // with interrupts, if no timer is due before
  unsigned dwell_ms = 100;     // at one P-state before a step down
  double utilisation = 0.85;   // highest utilisation for which a P-state is chosen
};

struct Settings {
  Kind kind = Kind::yield;
  YieldSettings yield;
  PaperSettings paper;
  PaperSettings printed;  // of Kind::paper_printed, which has no completions
  L3fwdSettings l3fwd;
  MetronomeSettings metronome;
  BudgetSettings budget;
};

}  // namespace splitplane::power

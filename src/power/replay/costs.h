// What the simulated core charges for everything besides processing. All assumptions are here, and `--cost name=value`
// sets each. The defaults stand for a server core as in paper PWR. None was measured on the present machine.
#pragma once

#include <cstdint>

namespace splitplane::power::replay {

// ns at the highest P-state, unless said otherwise.
struct Costs {
  std::uint64_t packet = 100;             // processing of one packet; grows as the clock slows
  std::uint64_t poll = 50;                // one poll of one receive queue; grows as the clock slows
  std::uint64_t round = 30;               // flush, mailbox and policy, once per round; grows as the clock slows
  std::uint64_t pause_step = 50;          // a PAUSE instruction: without tpause a pause is a whole number of them
  std::uint64_t tpause_exit = 500;        // tpause: how much longer than asked
  std::uint64_t system_call = 500;        // into and out of a sleep
  std::uint64_t arm = 200;                // arms the interrupt of one queue, and again to disarm it
  std::uint64_t interrupt = 8'000;        // from the packet to the thread's first step, idle state aside
  std::uint64_t timer_late = 4'000;       // the least lateness of a timed sleep, without the idle state
  std::uint64_t timer_late_mean = 6'000;  // ... plus an exponentially distributed time with this mean
  std::uint64_t c1_exit = 2'000;          // out of C1, where short idle times are spent
  std::uint64_t c6_after = 600'000;       // idle times from here on are spent in C6 (the C3 of older cores)
  std::uint64_t c6_exit = 100'000;        // out of C6
  std::uint64_t p_request = 2'000;        // asks for a P-state: a write to sysfs
  std::uint64_t p_effective = 500'000;    // from the request until the clock changes
  std::uint64_t p_halt = 10'000;          // the core stands still when it does
};

// Calls visit(name, value, text) for each.
template <class C, class Visit>
void each_cost(C& c, Visit&& visit) {
  visit("packet", c.packet, "processing of one packet, at the highest P-state");
  visit("poll", c.poll, "one look at one receive queue, at the highest P-state");
  visit("round", c.round, "flush, mailbox and policy once per round, at the highest P-state");
  visit("pause_step", c.pause_step, "one PAUSE instruction; a pause without tpause is a whole number of them");
  visit("tpause_exit", c.tpause_exit, "how much longer than asked a tpause takes");
  visit("system_call", c.system_call, "into and out of a sleep");
  visit("arm", c.arm, "arms the interrupt of one queue, and as much to disarm it");
  visit("interrupt", c.interrupt, "from the packet to the thread's first step, after the idle state's exit");
  visit("timer_late", c.timer_late, "least lateness of a timed sleep, before the idle state's exit");
  visit("timer_late_mean", c.timer_late_mean, "mean of the exponentially distributed rest of the lateness");
  visit("c1_exit", c.c1_exit, "out of C1, where shorter idle times are spent");
  visit("c6_after", c.c6_after, "idle times from this on are spent in C6 (C3 on older cores)");
  visit("c6_exit", c.c6_exit, "out of C6");
  visit("p_request", c.p_request, "asking for another P-state");
  visit("p_effective", c.p_effective, "from the request until the clock changes");
  visit("p_halt", c.p_halt, "the core stands still when the clock changes");
}

}  // namespace splitplane::power::replay

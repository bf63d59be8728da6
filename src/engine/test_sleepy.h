// For the tests of sleeping workers: a policy that sleeps as soon as it may, until an event ends the sleep.
#pragma once

#include <chrono>
#include <cstdlib>

#include "power/settings.h"

namespace splitplane::datapath::test {

using namespace std::chrono_literals;

inline constexpr auto kLost = 900ms;  // so long a wait means that only the end of the sleep, after a second, ended it

// Sleeps until an event after two empty polls, a second at most.
inline power::Settings sleepy() {
  power::Settings settings{.kind = power::Kind::paper};
  settings.paper.short_idle_polls = 1;
  settings.paper.long_idle_polls = 2;
  settings.paper.wait_ms = 1000;
  return settings;
}

inline unsigned cycles_of(unsigned usual) {
  const char* const wanted = std::getenv("SPLITPLANE_SLEEP_CYCLES");
  return wanted == nullptr ? usual : static_cast<unsigned>(std::atoi(wanted));
}

}  // namespace splitplane::datapath::test

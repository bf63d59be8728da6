// The policies as one type, and how settings become one of them. Both kinds of `paper` are one class.
#pragma once

#include <variant>

#include "power/budget.h"
#include "power/busy.h"
#include "power/l3fwd.h"
#include "power/metronome.h"
#include "power/paper.h"
#include "power/settings.h"
#include "power/yield.h"

namespace splitplane::power {

using AnyPolicy = std::variant<Busy, Yield, Paper, L3fwd, Metronome, Budget>;

// A policy in its first state.
[[nodiscard]] inline AnyPolicy make_policy(const Settings& settings, const Machine& machine) {
  switch (settings.kind) {
    case Kind::busy:
      return Busy{};
    case Kind::yield:
      return Yield(settings.yield, machine);
    case Kind::paper:
      return Paper(settings.paper, machine);
    case Kind::paper_printed:
      return Paper(settings.printed, machine, Paper::Reading::printed);
    case Kind::l3fwd:
      return L3fwd(settings.l3fwd, machine);
    case Kind::metronome:
      return Metronome(settings.metronome, machine);
    case Kind::budget:
      return Budget(settings.budget, machine);
  }
  return Busy{};
}

}  // namespace splitplane::power

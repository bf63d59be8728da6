// The policies as one type, and how settings become one of them.
#pragma once

#include <variant>

#include "power/busy.h"
#include "power/settings.h"
#include "power/yield.h"

namespace splitplane::power {

using AnyPolicy = std::variant<Busy, Yield>;

// A policy that begins now.
[[nodiscard]] inline AnyPolicy make_policy(const Settings& settings, const Machine& machine) {
  if (settings.kind == Kind::yield) return Yield(settings.yield, machine);
  return Busy{};
}

}  // namespace splitplane::power

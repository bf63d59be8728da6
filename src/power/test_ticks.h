// Time in the tests of policies: 1000 ticks a microsecond.
#pragma once

#include "power/policy.h"

namespace splitplane::power::test {

inline constexpr Ticks kUs = 1000;
inline constexpr Ticks kMs = 1000 * kUs;

}  // namespace splitplane::power::test

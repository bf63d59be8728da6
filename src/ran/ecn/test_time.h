// Time in the tests of this room: a tick is 1 us.
#pragma once

#include "ran/ecn/sojourn.h"

namespace splitplane::ran::ecn::test {

inline constexpr Time kMs = 1000;

}  // namespace splitplane::ran::ecn::test

// What a user must know of a kind of policy before it runs.
#pragma once

#include "power/settings.h"

namespace splitplane::power {

// True if such a policy asks for frequencies, and sleeps until a packet comes where it can.
[[nodiscard]] bool sets_frequencies(Kind kind);
// What happens to its sleeps if packets cannot end them.
[[nodiscard]] const char* without_interrupts(Kind kind);

}  // namespace splitplane::power

// The .spec file that a card's configuration asks for: found, read, and known to be the program it is named after.
#pragma once

#include "app/config_card.h"
#include "base/expected.h"
#include "nic/spec_file.h"

namespace splitplane::app {

// Error: one sentence, "<what is wrong>; allowed: ...".
[[nodiscard]] Expected<nic::SpecFile> load_spec(const CardConfig& card);

}  // namespace splitplane::app

// The .spec file that a card's configuration asks for: found, read, and known to be the program it is named after.
#pragma once

#include "base/expected.h"
#include "card/config/config.h"
#include "card/spec/spec_file.h"

namespace splitplane::app {

// Error: one sentence, "<what is wrong>; allowed: ...".
[[nodiscard]] Expected<nic::SpecFile> load_spec(const CardConfig& card);

}  // namespace splitplane::app

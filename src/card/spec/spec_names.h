// The second step after SpecParser: each name that a .spec file uses must be one that the file defines.
#pragma once

#include "card/spec/spec_file.h"

namespace splitplane::nic {

// Checks that the file is complete, and that each type, action and default action exists. `last_line` is the line that
// an error names if a statement is missing. The error is one sentence, as that of parse_spec().
[[nodiscard]] Expected<void> check_spec_names(const SpecFile& spec, unsigned last_line);

}  // namespace splitplane::nic

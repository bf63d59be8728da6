// What a configuration's section `placement` may not say as its writer meant it: no error, but worth a look. For
// `check`.
#pragma once

#include <string>
#include <vector>

#include "gnb/config/config.h"

namespace splitplane::app {

// One sentence each, "placement: ...".
[[nodiscard]] std::vector<std::string> placement_notes(const GnbConfig& config);

}  // namespace splitplane::app

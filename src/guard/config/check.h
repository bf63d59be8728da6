// Checks between the parts of a guard's configuration, and of a server that a request adds or changes.
#pragma once

#include <optional>
#include <span>

#include "config/finding.h"
#include "guard/config/config.h"

namespace splitplane::app {

[[nodiscard]] std::optional<Finding> check_guard(const GuardConfig& config);

// Whether `server` may stand beside `others`. The keys of findings are the server's own: "name", "address", ...
[[nodiscard]] std::optional<Finding> check_server(const guard::ServerRule& server,
                                                  std::span<const guard::ServerRule> others);

}  // namespace splitplane::app

// Checks of the section `workers`: ports, copies, queues, shards, cores, and which worker feeds which.
#pragma once

#include <optional>
#include <string>

#include "config/finding.h"
#include "gnb/config/config.h"

namespace splitplane::app {

[[nodiscard]] std::optional<Finding> check_workers(const GnbConfig& config);
// Why these two cannot be on one core; nothing if they can, or are on two.
[[nodiscard]] std::optional<std::string> refuse_shared_core(const WorkerConfig& a, const WorkerConfig& b);

}  // namespace splitplane::app

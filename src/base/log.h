// Logging for everything but the packet path: spdlog to standard error. Keys never appear in it.
#pragma once

#include <spdlog/spdlog.h>

#include <string_view>

namespace splitplane::log {

// Sets level ("debug", "info", "warn", "error") and pattern; false if the level is none of these.
bool init(std::string_view level);

using spdlog::debug;
using spdlog::error;
using spdlog::info;
using spdlog::warn;

}  // namespace splitplane::log

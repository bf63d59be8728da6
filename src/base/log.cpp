#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>

#include <array>
#include <string>

namespace splitplane::log {

bool init(std::string_view level) {
  constexpr std::array<std::string_view, 4> kLevels{"debug", "info", "warn", "error"};
  bool known = false;
  for (const auto candidate : kLevels) known = known || candidate == level;
  if (!known) return false;
  if (!spdlog::get("splitplane")) spdlog::set_default_logger(spdlog::stderr_color_mt("splitplane"));
  spdlog::set_pattern("%H:%M:%S.%e %^%l%$ %v");
  spdlog::set_level(spdlog::level::from_str(std::string(level)));
  return true;
}

}  // namespace splitplane::log

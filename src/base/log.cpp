#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>

#include <array>
#include <string>

#include "base/log_json.h"

namespace splitplane::log {
namespace {

Format g_format = Format::kHuman;  // set once, before there are threads

}  // namespace

bool init(std::string_view level, Format format) {
  constexpr std::array<std::string_view, 4> kLevels{"debug", "info", "warn", "error"};
  bool known = false;
  for (const auto candidate : kLevels) known = known || candidate == level;
  if (!known) return false;
  if (!spdlog::get("splitplane")) spdlog::set_default_logger(spdlog::stderr_color_mt("splitplane"));
  g_format = format;
  if (format == Format::kJson) {
    spdlog::set_formatter(std::make_unique<JsonFormatter>());
  } else {
    spdlog::set_pattern("%H:%M:%S.%e %^%l%$ %v");
  }
  spdlog::set_level(spdlog::level::from_str(std::string(level)));
  return true;
}

Format format() {
  return g_format;
}

void write(spdlog::level::level_enum level, Fields fields, const std::string& message) {
  fields_of_record = &fields;
  spdlog::log(level, "{}", message);
  fields_of_record = nullptr;
}

}  // namespace splitplane::log

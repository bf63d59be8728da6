#include "base/log.h"

#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>

#include "base/log_json.h"
#include "base/log_sink.h"

namespace splitplane::log {
namespace {

Format g_format = Format::kHuman;  // both set once, before there are threads
std::weak_ptr<QueueSink> g_sink;   // its owner is the default logger, which ends with the program

}  // namespace

bool init(std::string_view level, Format format) {
  constexpr std::array<std::string_view, 4> kLevels{"debug", "info", "warn", "error"};
  bool known = false;
  for (const auto candidate : kLevels) known = known || candidate == level;
  if (!known) return false;
  if (!spdlog::get("splitplane")) {
    const auto sink = std::make_shared<QueueSink>(STDERR_FILENO);
    g_sink = sink;
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("splitplane", sink));
  }
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

void line(const std::string& text) {
  if (const auto sink = g_sink.lock()) {
    sink->write_line(text);
  } else {
    fmt::print(stderr, "{}\n", text);
  }
}

Unwritten unwritten() {
  const auto sink = g_sink.lock();
  return sink ? sink->unwritten() : Unwritten{};
}

void run_beside_caller() {
  if (const auto sink = g_sink.lock()) sink->run_beside_caller();
}

}  // namespace splitplane::log

// Logging for everything but the packet path: spdlog to standard error, as lines for people or as one JSON object a
// line. Keys never appear in it.
#pragma once

#include <spdlog/spdlog.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace splitplane::log {

enum class Format { kHuman, kJson };

// Sets level ("debug", "info", "warn", "error") and form; false if the level is none of these.
bool init(std::string_view level, Format format = Format::kHuman);
[[nodiscard]] Format format();

using spdlog::debug;
using spdlog::error;
using spdlog::info;
using spdlog::warn;

// What the message is about, as members of the JSON object; people read it in the message.
struct Field {
  std::string_view name;
  std::variant<std::string, std::uint64_t> value;
};
using Fields = std::initializer_list<Field>;
void write(spdlog::level::level_enum level, Fields fields, const std::string& message);

}  // namespace splitplane::log

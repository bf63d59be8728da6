// Logging for everything but the packet path: spdlog to standard error, as lines for people or as one JSON object a
// line. Keys never appear in it. No thread waits for a slow reader of the log (log_sink.h).
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

// Sets level ("debug", "info", "warn", "error") and form. Returns false if the level is none of these.
bool init(std::string_view level, Format format = Format::kHuman);
[[nodiscard]] Format format();

using spdlog::debug;
using spdlog::error;
using spdlog::info;
using spdlog::warn;

// What the message is about, as members of the JSON object. The message tells people the same.
struct Field {
  std::string_view name;
  std::variant<std::string, std::uint64_t> value;
};
using Fields = std::initializer_list<Field>;
void write(spdlog::level::level_enum level, Fields fields, const std::string& message);

// Writes a line for people to standard error, without time and level, after the lines that were logged before.
void line(const std::string& text);

// Lines of the log that were not written since the start.
struct Unwritten {
  std::uint64_t dropped = 0;  // because the reader was too slow or absent
  std::uint64_t folded = 0;   // like other lines, and counted in a summary
};
[[nodiscard]] Unwritten unwritten();

// Moves the thread that writes the log to the cores on which the calling thread may run.
void run_beside_caller();

}  // namespace splitplane::log

#include "base/log_json.h"

#include <fmt/chrono.h>

#include <nlohmann/json.hpp>

namespace splitplane::log {

void JsonFormatter::format(const spdlog::details::log_msg& record, spdlog::memory_buf_t& out) {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  const auto since_epoch = duration_cast<milliseconds>(record.time.time_since_epoch());
  const std::time_t seconds = since_epoch.count() / 1000;
  const auto level = spdlog::level::to_string_view(record.level);
  nlohmann::ordered_json line{
      {"time", fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds), since_epoch.count() % 1000)},
      {"level", std::string_view(level.data(), level.size())},
      {"message", std::string_view(record.payload.data(), record.payload.size())}};
  if (fields_of_record != nullptr) {
    for (const auto& field : *fields_of_record) {
      std::visit([&](const auto& value) { line.emplace(std::string(field.name), value); }, field.value);
    }
  }
  // Octets that are not UTF-8 become U+FFFD, so the line is JSON for any text.
  const std::string text = line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  out.append(text.data(), text.data() + text.size());
  out.push_back('\n');
}

}  // namespace splitplane::log

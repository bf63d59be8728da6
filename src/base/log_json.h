// One log record as a JSON object on a separate line: time (RFC 3339, UTC), level, message, and the record's fields.
#pragma once

#include <spdlog/formatter.h>

#include "base/log.h"

namespace splitplane::log {

// Fields of the record that this thread writes now; nullptr if it has none. The thread that writes a record formats it.
inline thread_local const Fields* fields_of_record = nullptr;

class JsonFormatter : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& record, spdlog::memory_buf_t& out) override;
  [[nodiscard]] std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<JsonFormatter>(); }
};

}  // namespace splitplane::log

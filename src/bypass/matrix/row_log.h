// The rows of a bench, written to disk as they come. So a run that is cut off loses no row and can resume. The file has
// one line of JSON for each row, after a line that names the machine and the plan. A line that was cut off is no row.
#pragma once

#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "base/expected.h"
#include "bypass/result_json.h"

namespace splitplane::bypass {

class RowLog {
 public:
  // Without a file: rows are not kept.
  RowLog() = default;
  // `head` is what all rows have in common. `resume` keeps the rows of a file with the same head, and find() returns
  // them. Without `resume`, or without a file, the log begins anew. `retry` removes rows with an error. The error is
  // one sentence.
  static Expected<RowLog> open(const std::string& path, const Json& head, bool resume, bool retry = false);

  // The row of an earlier run with this section, repeat and scenario; a run that ended in an error has a row too.
  [[nodiscard]] std::optional<Json> find(const std::string& section, unsigned repeat, const Scenario& scenario) const;
  // Adds "section" and "repeat" to the row and writes it to the file at once. The error is one sentence.
  Expected<void> add(const std::string& section, unsigned repeat, Json& row);
  // Rows in the file when it was opened, and those of them with an error.
  [[nodiscard]] std::size_t found() const { return rows_.size(); }
  [[nodiscard]] std::size_t found_failed() const { return failed_; }

 private:
  std::string path_;
  std::ofstream file_;
  std::map<std::string, Json> rows_;  // by key_of()
  std::size_t failed_ = 0;
};

}  // namespace splitplane::bypass

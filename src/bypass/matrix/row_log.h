// The rows of a bench on disk as they come, so that a run that is cut off loses none and can go on where it ended: one
// line of JSON each, behind a line that says what they belong to (machine and plan). A line that was cut off is no row.
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
  // No file: nothing is kept.
  RowLog() = default;
  // `head`: what all rows have in common. `resume`: the rows of a file with the same head stay and are found again;
  // without it, and where there is no file, it begins anew. `retry`: rows with an error do not stay. Error: one
  // sentence.
  static Expected<RowLog> open(const std::string& path, const Json& head, bool resume, bool retry = false);

  // The row of an earlier run with this name, repeat and scenario; one that ended in an error is a row too.
  [[nodiscard]] std::optional<Json> find(const std::string& section, unsigned repeat, const Scenario& scenario) const;
  // Adds "section" and "repeat" to the row and writes it through to the file. Error: one sentence.
  Expected<void> add(const std::string& section, unsigned repeat, Json& row);
  // In the file, when it was opened: rows, and those of them with an error.
  [[nodiscard]] std::size_t found() const { return rows_.size(); }
  [[nodiscard]] std::size_t found_failed() const { return failed_; }

 private:
  std::string path_;
  std::ofstream file_;
  std::map<std::string, Json> rows_;  // by key_of()
  std::size_t failed_ = 0;
};

}  // namespace splitplane::bypass
